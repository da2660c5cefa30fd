/** A text of LQL as rules: paths, the clauses that do not filter (`f:`, `s:`, `c:`), and those that do. */
import { segmentsOf } from '../field-path';
import { excerpt, LqlError } from './lql-error';
import { readOperand } from './operand';
import {
  OPERATORS,
  type Aggregate,
  AGGREGATES,
  type Chart,
  type Filter,
  type Period,
  type Rules,
  type Select,
  type Span,
} from './rules';
import { type Piece, Scanner } from './scanner';
import { readTimeTest } from './timestamp';

/** Most segments in a path: each but the last is a join. */
const MAX_SEGMENTS = 20;

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

function isIdentifier(text: string): boolean {
  return IDENTIFIER.test(text);
}

/** Identifiers, with an @ in front as some loggers write them, and in backticks any name that JSONPath takes, with dots between. */
const PATH = /^(?:@?[A-Za-z_][A-Za-z0-9_]*|`[^`"\\\p{Cc}]+`)(?:\.(?:@?[A-Za-z_][A-Za-z0-9_]*|`[^`"\\\p{Cc}]+`))*$/u;

/** The path that `written` names: `m.` spelt out as `metadata.`. */
function readPath(written: string, span: Span): string {
  const path = written.startsWith('m.') ? `metadata.${written.slice(2)}` : written;
  if (!PATH.test(path)) {
    throw new LqlError('bad_path', `"${excerpt(path)}" is not a valid field path`, span, {
      hint: hintFor(written),
    });
  }
  if ((segmentsOf(path) ?? []).length > MAX_SEGMENTS) {
    throw new LqlError('bad_path', `a field path has at most ${MAX_SEGMENTS} segments`, span);
  }
  return path;
}

function hintFor(written: string): string {
  // What is left of 2024-03-17T13:47:02+02:00 after a URL's plus, and of a date and a time that a space parts.
  if (/^[0-9]{1,2}$/.test(written)) {
    return 'A datetime is one word, 2024-03-17T13:47:02+02:00, and a + in a URL must be sent as %2B.';
  }
  return 'A path is names of letters, digits and _ joined by dots, others in backticks; to search for this text, put it in double quotes.';
}

const MAX_TABLE_NAME = 255;

function readFrom({ text, span }: Piece): string {
  if (isIdentifier(text) && text.length <= MAX_TABLE_NAME) return text;
  throw new LqlError('bad_from', 'table name must be an identifier', span, {
    hint: 'Write one table name directly behind the colon, without quotes: f:edge_logs.',
  });
}

function readSelect({ text, span }: Piece): { path: string; alias: string | null; pathSpan: Span } {
  if (text === '') {
    throw new LqlError('bad_select', 'expected a field path or *', span, { hint: 'Write s:path, s:path@name or s:*.' });
  }
  const at = text.replace(/`[^`]*`/g, (name) => '`'.repeat(name.length)).indexOf('@');
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
  | {
      readonly kind: 'aggregate';
      readonly aggregate: Aggregate;
      readonly path: string;
      readonly role: Chart['role'];
      readonly pathSpan: Span;
    }
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

function readChart({ text, span }: Piece): ChartPart {
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
  const part = { kind: 'aggregate', aggregate, pathSpan } as const;
  if (argument !== '*') return { ...part, path: readPath(argument, pathSpan), role: null };
  if (STARRED.includes(aggregate)) return { ...part, path: 'timestamp', role: 'time' };
  throw new LqlError('bad_chart', `${aggregate} needs a field`, pathSpan, { hint: `Write c:${aggregate}(path).` });
}

function unitHint(text: string): string {
  return text.startsWith('group_by')
    ? `The unit is one of ${[...PERIOD_NAMES.keys()].join(', ')}: c:group_by(t::minute).`
    : `Write it without spaces, c:count(*) or c:avg(path), and the bucket as a clause of its own.`;
}

const MAX_CLAUSES = 100;
const MAX_SELECTS = 50;

const RESERVED = /(?:f|from|c|chart|s|select|t|timestamp):/y;
const FIELD = /@?(?:[A-Za-z0-9_.]|`[^`]*`|(?<=\.)@)+(?=:)/y;

/** The clauses read so far. */
interface Draft {
  from: { readonly name: string; readonly span: Span } | null;
  readonly select: Select[];
  readonly filters: Filter[];
  aggregate: (Extract<ChartPart, { kind: 'aggregate' }> & { span: Span }) | null;
  bucket: (Extract<ChartPart, { kind: 'bucket' }> & { span: Span }) | null;
}

/** Reads a text that `checkText` let pass; null: it holds no clause. `clock` is now in microseconds, UTC. */
export function parse(text: string, clock: bigint): Rules | null {
  const scanner = new Scanner(text);
  const draft: Draft = { from: null, select: [], filters: [], aggregate: null, bucket: null };
  scanner.skipSeparators();
  if (scanner.atEnd) return null;
  for (let clauses = 1; !scanner.atEnd; clauses++) {
    if (clauses > MAX_CLAUSES) {
      throw new LqlError('too_many_clauses', `more than ${MAX_CLAUSES} clauses`, scanner.token().span);
    }
    readClause(scanner, draft, clock);
    scanner.skipSeparators();
  }
  return {
    from: draft.from?.name ?? null,
    fromSpan: draft.from?.span ?? null,
    select: draft.select,
    filters: draft.filters,
    chart: chartOf(draft),
  };
}

function readClause(scanner: Scanner, draft: Draft, clock: bigint): void {
  const start = scanner.offset;
  const negate = scanner.accept('-');
  if (negate && scanner.atBoundary) {
    throw new LqlError(
      'dangling_negation',
      '"-" must be followed by a clause',
      { start, end: scanner.offset },
      {
        hint: 'Put no space after the minus; to search for a minus, write "-" in double quotes.',
      },
    );
  }
  const clause = { start, end: scanner.offset };
  const reserved = scanner.match(RESERVED)?.[0];
  if (reserved !== undefined && reserved[0] !== 't') {
    if (negate) throw new LqlError('negated_clause', `"${reserved}" cannot be negated`, spanTo(scanner, clause));
    return readOther(scanner, draft, reserved[0] ?? '', start);
  }
  if (reserved !== undefined) {
    const pathSpan = { start: scanner.offset - reserved.length, end: scanner.offset - 1 };
    const test = readTimeTest(scanner.token(), clock);
    draft.filters.push({
      path: 'timestamp',
      role: 'time',
      negate,
      quoted: false,
      ...test,
      span: spanTo(scanner, clause),
      pathSpan,
    });
    return;
  }
  const pathStart = scanner.offset;
  const field = scanner.match(FIELD)?.[0];
  if (field !== undefined) {
    const pathSpan = { start: pathStart, end: scanner.offset };
    const path = readPath(field, pathSpan);
    const [, operator] = OPERATORS.find(([written]) => scanner.accept(written)) ?? [':', '=' as const];
    const test = readOperand(scanner, path, operator);
    const span = spanTo(scanner, clause);
    draft.filters.push({ path, role: null, negate, origin: null, shorthand: null, ...test, span, pathSpan });
    return;
  }
  const operator = scanner.accept('~') ? '~' : 'contains';
  const { value, quoted } = readTerm(scanner);
  const span = spanTo(scanner, clause);
  const common = {
    path: 'event_message',
    role: 'message',
    negate,
    origin: null,
    shorthand: null,
    span,
    pathSpan: span,
  } as const;
  draft.filters.push({ ...common, operator, value, quoted });
}

const spanTo = (scanner: Scanner, from: Span): Span => ({ start: from.start, end: scanner.offset });

/** `f:`, `c:` or `s:`, by its first letter. */
function readOther(scanner: Scanner, draft: Draft, kind: string, start: number): void {
  const piece = scanner.token();
  const span = { start, end: scanner.offset };
  if (kind === 'f') {
    const name = readFrom(piece);
    if (draft.from !== null) throw new LqlError('duplicate_from', 'only one from clause', span);
    draft.from = { name, span };
  } else if (kind === 's') {
    const select = readSelect(piece);
    if (draft.select.some(({ path, alias }) => path === select.path && alias === select.alias)) return;
    draft.select.push({ ...select, wildcard: select.path === '*', span });
    if (draft.select.length > MAX_SELECTS) {
      throw new LqlError('too_many_selects', `more than ${MAX_SELECTS} selected fields`, span);
    }
  } else {
    const part = readChart(piece);
    if (part.kind === 'bucket') {
      if (draft.bucket !== null) throw new LqlError('duplicate_chart', 'only one group_by', span);
      draft.bucket = { ...part, span };
    } else {
      if (draft.aggregate !== null) throw new LqlError('duplicate_chart', 'only one aggregate', span);
      draft.aggregate = { ...part, span };
    }
  }
}

/** A search term: always text, however it is spelt. */
function readTerm(scanner: Scanner): { value: string; quoted: boolean } {
  if (scanner.next === '"') {
    const { text, span } = scanner.quoted();
    if (!scanner.atBoundary) {
      throw new LqlError('adjacent', 'whitespace needed after closing quote', scanner.token().span, {
        hint: 'Write \\" for a double quote inside quotes.',
      });
    }
    if (text === '') throw new LqlError('empty_term', 'search term is empty', span);
    return { value: text, quoted: true };
  }
  const { text, span } = scanner.token();
  if (text === '') throw new LqlError('empty_term', 'search term is empty', { start: span.start - 1, end: span.end });
  // An escaped double quote is the one that a bare word may hold.
  const bad = /["~:]|\p{Cc}/u.exec(text.replaceAll('\\"', '  '));
  if (bad !== null) {
    throw new LqlError('bad_word', `unexpected character in "${excerpt(text)}"; quote the term`, span, {
      hint: `A bare word holds no double quote, colon, tilde or control character: put it in double quotes.`,
    });
  }
  return { value: text, quoted: false };
}

/** An aggregate alone is charted per minute, a bucket alone counts rows. */
function chartOf({ aggregate, bucket }: Draft): Chart | null {
  const span = aggregate?.span ?? bucket?.span;
  if (span === undefined) return null;
  return {
    aggregate: aggregate?.aggregate ?? 'count',
    path: aggregate?.path ?? 'timestamp',
    role: aggregate === null ? 'time' : aggregate.role,
    period: bucket?.period ?? 'minute',
    span,
    pathSpan: aggregate?.pathSpan ?? span,
  };
}
