import { type ChartPart, readChart, readFrom, readSelect } from './clauses';
import { excerpt, LqlError } from './lql-error';
import { OPERATORS } from './operators';
import { readOperand } from './operand';
import { readPath } from './path';
import type { Chart, Filter, Rules, Select, Span } from './rules';
import { Scanner } from './scanner';
import { readTimeTest } from './timestamp';

const MAX_CLAUSES = 100;
const MAX_SELECTS = 50;

const RESERVED = /(?:f|from|c|chart|s|select|t|timestamp):/y;
const FIELD = /[A-Za-z0-9_.]+(?=:)/y;

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
    draft.filters.push({ path: 'timestamp', negate, quoted: false, ...test, span: spanTo(scanner, clause), pathSpan });
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
    draft.filters.push({ path, negate, origin: null, shorthand: null, ...test, span, pathSpan });
    return;
  }
  const operator = scanner.accept('~') ? '~' : 'contains';
  const { value, quoted } = readTerm(scanner);
  const span = spanTo(scanner, clause);
  const common = { path: 'event_message', negate, origin: null, shorthand: null, span, pathSpan: span };
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
    period: bucket?.period ?? 'minute',
    span,
    pathSpan: aggregate?.pathSpan ?? span,
  };
}
