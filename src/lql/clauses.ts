/** The clauses that do not filter: `f:`, `s:`, `c:`. Each reads what follows its prefix up to the next separator. */
import { LqlError } from './lql-error';
import { isIdentifier, readPath } from './path';
import { type Aggregate, AGGREGATES, type Period, type Span } from './rules';
import type { Piece } from './scanner';

const MAX_TABLE_NAME = 255;

export function readFrom({ text, span }: Piece): string {
  if (isIdentifier(text) && text.length <= MAX_TABLE_NAME) return text;
  throw new LqlError('bad_from', 'table name must be an identifier', span, {
    hint: 'Write one table name directly behind the colon, without quotes: f:edge_logs.',
  });
}

export function readSelect({ text, span }: Piece): { path: string; alias: string | null; pathSpan: Span } {
  if (text === '') {
    throw new LqlError('bad_select', 'expected a field path or *', span, { hint: 'Write s:path, s:path@name or s:*.' });
  }
  const at = text.indexOf('@');
  const written = at < 0 ? text : text.slice(0, at);
  const pathSpan = { start: span.start, end: span.start + written.length };
  if (written === '*') {
    if (at >= 0) throw new LqlError('bad_select', '* cannot have an alias', span);
    return { path: '*', alias: null, pathSpan };
  }
  const path = readPath(written, pathSpan);
  if (at < 0) return { path, alias: null, pathSpan };
  const alias = text.slice(at + 1);
  const aliasSpan = { start: span.start + at + 1, end: span.end };
  if (alias === '') throw new LqlError('blank_alias', 'a name must follow "@"', aliasSpan);
  if (!isIdentifier(alias)) throw new LqlError('bad_alias', 'alias must be an identifier', aliasSpan);
  return { path, alias, pathSpan };
}

export type ChartPart =
  | { readonly kind: 'aggregate'; readonly aggregate: Aggregate; readonly path: string; readonly pathSpan: Span }
  | { readonly kind: 'bucket'; readonly period: Period };

const CALL = /^([a-z0-9]+)\(([^()]+)\)$/;
const BUCKET = /^group_by\((?:t|timestamp)::([a-z]+)\)$/;
const PERIOD_NAMES: ReadonlyMap<string, Period> = new Map([
  ['second', 'second'],
  ['s', 'second'],
  ['minute', 'minute'],
  ['m', 'minute'],
  ['hour', 'hour'],
  ['h', 'hour'],
  ['day', 'day'],
  ['d', 'day'],
]);
/** What `*` means something for. */
const STARRED: readonly string[] = ['count', 'countd', 'max'];
const CHART_FORMS = [
  ...AGGREGATES.map((name) => `${name}(${STARRED.includes(name) ? '*' : 'path'})`),
  'group_by(t::<unit>)',
];

export function readChart({ text, span }: Piece): ChartPart {
  const period = PERIOD_NAMES.get(BUCKET.exec(text)?.[1] ?? '');
  if (period !== undefined) return { kind: 'bucket', period };
  const [, name, argument] = CALL.exec(text) ?? [];
  const aggregate = AGGREGATES.find((known) => known === name);
  if (aggregate === undefined || argument === undefined) {
    throw new LqlError('bad_chart', 'expected an aggregate or group_by(t::unit)', span, {
      hint: unitHint(text),
      allowed: CHART_FORMS,
    });
  }
  const start = span.start + aggregate.length + 1;
  const pathSpan = { start, end: start + argument.length };
  if (argument !== '*') return { kind: 'aggregate', aggregate, path: readPath(argument, pathSpan), pathSpan };
  if (STARRED.includes(aggregate)) return { kind: 'aggregate', aggregate, path: 'timestamp', pathSpan };
  throw new LqlError('bad_chart', `${aggregate} needs a field`, pathSpan, { hint: `Write c:${aggregate}(path).` });
}

function unitHint(text: string): string {
  return text.startsWith('group_by')
    ? `The unit is one of ${[...PERIOD_NAMES.keys()].join(', ')}: c:group_by(t::minute).`
    : `Write it without spaces, c:count(*) or c:avg(path), and the bucket as a clause of its own.`;
}
