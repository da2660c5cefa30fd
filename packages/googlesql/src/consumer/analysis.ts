/** What is known of a consumer query without running it: SQL or LQL over the CTE tables of a stored query. */
import type { Token } from '../lexer';
import { type NamedType, type SqlType, type TableSchema, TIME_UNITS } from '../types';
import { type TypedParameter, typesByName } from '../bound-parameter';
import { type FaultNote, type QueryDetails, QueryError, type QueryFault } from '../errors';
import { inLql, LqlError } from '../lql/lql-error';
import { misreadings } from '../lql/misreadings';
import { readLql } from '../lql/read';
import { toSql } from '../lql/sql';
import { unsupportedError } from '../parser';
import { surveyMeaning } from '../resolver';
import { type Roles, roleSettings, rolesOf } from '../roles';
import { type Description, describing, resultColumns } from '../descriptions';
import type { ResolvedQuery } from '../resolved';
import type { Span } from '../tree';
import { originalSpan } from './lenient';
import { surveyConsumerQuery } from './policy';
import { readStatement, readTranslation } from './statement';

/** A list of expressions follows. */
const LISTS = new Set(['SELECT', 'DISTINCT', 'BY']);
/** The left side of a condition follows. */
const CONDITIONS = new Set(['WHERE', 'AND', 'OR', 'NOT', 'ON', 'HAVING', 'QUALIFY']);

/**
 * Names of columns that the text holds in double quotes where a column is to be expected. A text beside a function's arguments or on
 * the right of a comparison is a value as a rule.
 *
 * @param text that the tokens are of
 */
export function namesInDoubleQuotes(
  text: string,
  tokens: readonly Token[],
  columns: readonly Pick<NamedType, 'name'>[],
): readonly string[] {
  const known = new Set(columns.map(({ name }) => name.toLowerCase()));
  const found = new Set<string>();
  /** Whether each open bracket, and the text around them, is in a list of expressions. */
  const inList = [false];
  let before = '';
  for (const { kind, symbol, value, start } of tokens) {
    if (symbol === '(') inList.push(false);
    else if (symbol === ')' && inList.length > 1) inList.pop();
    else if (LISTS.has(symbol)) inList[inList.length - 1] = true;
    else if (CONDITIONS.has(symbol) || symbol === 'FROM' || symbol === '|>') inList[inList.length - 1] = false;
    const isPlace = LISTS.has(before) || CONDITIONS.has(before) || (before === ',' && inList.at(-1) === true);
    if (kind === 'string' && text[start] === '"' && isPlace && known.has(value.toLowerCase())) found.add(value);
    before = symbol;
  }
  return [...found];
}

/** A CTE table with its columns. */
export interface ConsumerTable extends Pick<TableSchema, 'name' | 'columns'> {
  /** Missing: what names and types say. */
  readonly roles?: Roles;
}

export interface ConsumerText {
  readonly language: 'sql' | 'lql';
  readonly text: string;
  readonly tables: readonly ConsumerTable[];
  readonly parameters: readonly TypedParameter[];
  /** The clock of relative times, in microseconds since the epoch. */
  readonly now: bigint;
}

/** A fault, as plain data. */
export interface TextFault extends Omit<QueryDetails, 'note'> {
  /** LQL's own error code. */
  readonly code?: string;
  readonly reason: QueryFault | 'invalidLql';
  readonly message: string;
  /** UTF-16 offsets into the text; null: the fault has no single place. */
  readonly span: Span | null;
  readonly note?: FaultNote;
}

export interface Warning {
  readonly message: string;
  readonly hint?: string;
  readonly parameter?: string;
}

export interface ConsumerAnalysis {
  /** SQL that the LQL text is translated to; null: it is SQL, or has faults. */
  readonly lqlAsSql: string | null;
  /** CTE tables that are read. */
  readonly tables: readonly string[];
  /** null: not known, as there are faults. */
  readonly columns: readonly NamedType[] | null;
  /** The roles of those columns. */
  readonly roles: Roles | null;
  /** Whether rows are bounded by a condition on a column named like a time. */
  readonly mentionsTime: boolean;
  readonly errors: readonly TextFault[];
  readonly warnings: readonly Warning[];
}

const NOTHING: ConsumerAnalysis = {
  lqlAsSql: null,
  tables: [],
  columns: null,
  roles: null,
  // Not known: nothing is said of it.
  mentionsTime: true,
  errors: [],
  warnings: [],
};

/** Reads and resolves a text: every fault that can be told from the others. Never throws for a fault of the text. */
export function analyseConsumer(text: ConsumerText): ConsumerAnalysis {
  return text.language === 'sql' ? analyseSql(text) : analyseLql(text);
}

type GivenSql = Pick<ConsumerText, 'text' | 'tables' | 'parameters'>;
type Read = typeof readStatement;

function analyseSql(given: GivenSql, read: Read = readStatement): ConsumerAnalysis {
  try {
    return surveySql(given, read);
  } catch (error) {
    if (error instanceof QueryError) return { ...NOTHING, errors: [faultOf(error, error.span)] };
    throw error;
  }
}

/** @throws QueryError for a text that is no query */
function surveySql({ text, tables, parameters }: GivenSql, read: Read): ConsumerAnalysis {
  const statement = read(text);
  const { query, passes, unsupported } = statement;
  const stored = { cteTables: tables.map(({ name }) => name), parameters };
  const { reading, faults: violations } = surveyConsumerQuery(statement, stored);
  const known = [...violations, ...unsupported.slice(0, MOST_CONSTRUCTS).map(unsupportedError)];
  const byName = new Map(tables.map((table) => [table.name.toLowerCase(), table]));
  // Where there are constructs that are not read, the tree represents something else.
  const { resolved, faults } =
    unsupported.length > 0
      ? { resolved: null, faults: [] }
      : surveyMeaning(query, statement.text, {
          findTable: (path) => (path.length === 1 ? byName.get(path[0]?.name.toLowerCase() ?? '') : undefined),
          parameters: typesByName(parameters),
        });
  const own = faults.filter(({ span }) => !known.some((other) => overlaps(other.span, span)));
  const columns = resolved === null ? null : resultColumns(resolved);
  const all = [...known, ...own, ...(known.length + own.length === 0 ? duplicates(columns ?? []) : [])];
  const errors = all.map((error) => faultOf(error, error.span && originalSpan(passes, error.span)));
  const names = statement.tokens.filter(({ kind }) => kind === 'identifier');
  const tablesRead = reading.tables.flatMap((name) => byName.get(name.toLowerCase()) ?? []);
  const times = new Set(['TIMESTAMP', ...tablesRead.map((table) => rolesIn(table).time?.path.at(-1)?.toUpperCase())]);
  return {
    lqlAsSql: null,
    tables: reading.tables,
    columns: errors.length > 0 ? null : columns,
    roles: errors.length > 0 || resolved === null ? null : rolesOfResult(resolved, tablesRead),
    mentionsTime:
      names.some(({ value }) => times.has(value.toUpperCase())) && names.some(({ symbol }) => symbol === 'WHERE'),
    errors: inOrder(errors),
    warnings: [
      ...(query.body.kind === 'select' && query.body.items.some(({ kind }) => kind === 'select_star')
        ? wide(columns)
        : []),
      ...inDoubleQuotes(
        statement,
        tablesRead.flatMap((table) => table.columns),
      ),
    ],
  };
}

function rolesIn({ columns, roles }: ConsumerTable): Roles {
  return roles ?? rolesOf(columns);
}

/** Of what a query gives: numbers are times where they are a table's own, and the columns that have a role there have it here. */
function rolesOfResult(resolved: ResolvedQuery, tables: readonly ConsumerTable[]): Roles {
  const units = new Map<string, readonly Description[]>();
  for (const table of tables) {
    const { time } = rolesIn(table);
    const [column, ...inner] = time?.path ?? [];
    if (time === null || time.unit === null || inner.length > 0) continue;
    units.set(
      table.name,
      table.columns.map(({ name }) => ({ text: name === column ? time.unit : null, fields: [] })),
    );
  }
  const columns = resultColumns(resolved);
  const [counted] = describing(
    resolved,
    units,
  )(resolved).flatMap(({ text }, i) => {
    const unit = TIME_UNITS.find((one) => one === text);
    return unit === undefined ? [] : [{ path: [columns[i]?.name ?? ''], unit }];
  });
  const [only, ...others] = tables;
  const set = only === undefined || others.length > 0 ? {} : roleSettings(rolesIn(only));
  // A unit is a column's own, whatever another is called.
  return rolesOf(columns, { ...set, time: counted ?? (set.time?.unit ? undefined : set.time) });
}

const MOST_CONSTRUCTS = 20;

function analyseLql({ text, tables, parameters, now }: ConsumerText): ConsumerAnalysis {
  try {
    const reading = readLql(text, { tables: tables.map(({ name }) => name), now, typed: true });
    if (reading.kind === 'blank') return NOTHING;
    const { rules, table: name } = reading;
    const table = tables.find((one) => one.name === name);
    const { sql, origin } = toSql(rules, { name, columns: table?.columns ?? null, roles: table?.roles });
    const analysis = analyseSql({ text: sql, tables, parameters }, readTranslation);
    const errors = analysis.errors.map((fault) => ({ ...inLql(fault), span: fault.span && origin(fault.span.start) }));
    const mentionsTime = rules.filters.some(({ role }) => role === 'time');
    return {
      ...analysis,
      lqlAsSql: sql,
      mentionsTime,
      errors: distinct(errors),
      warnings: [...looksLikeSql(text), ...misreadings(rules)],
    };
  } catch (error) {
    if (!(error instanceof LqlError)) throw error;
    const { code, message, span, advice } = error;
    const warnings = looksLikeSql(text);
    return { ...NOTHING, errors: [{ reason: 'invalidLql', message, span, code, ...advice }], warnings };
  }
}

/** One part of an LQL text may be written more than once in its SQL. */
function distinct(faults: readonly TextFault[]): readonly TextFault[] {
  return [...new Map(faults.map((fault) => [JSON.stringify([fault.span, fault.message]), fault])).values()];
}

function faultOf({ fault, message, details }: QueryError, span: Span | null): TextFault {
  return { reason: fault, message, span, ...details };
}

function inOrder(faults: readonly TextFault[]): readonly TextFault[] {
  return [...faults].sort((a, b) => (a.span?.start ?? 0) - (b.span?.start ?? 0));
}

function overlaps(a: Span | null, b: Span | null): boolean {
  return a !== null && b !== null && a.start < b.end && b.start < a.end;
}

/** A JSON object has one value for a key. */
function duplicates(columns: readonly NamedType[]): QueryError[] {
  const seen = new Set<string>();
  for (const { name } of columns) {
    if (seen.has(name.toLowerCase()))
      return [new QueryError('invalidQuery', `Two columns of the result are named ${name}: give one an alias.`, null)];
    seen.add(name.toLowerCase());
  }
  return [];
}

/** Fields of a row beyond which `SELECT *` is worth a second thought. */
const WIDE = 50;

function wide(columns: readonly NamedType[] | null): readonly Warning[] {
  const fields = (columns ?? []).reduce((sum, { type }) => sum + leaves(type), 0);
  if (fields <= WIDE) return [];
  return [{ message: `SELECT * gives ${String(fields)} fields a row.`, hint: 'Name the columns that you need.' }];
}

function inDoubleQuotes(statement: ReturnType<Read>, columns: readonly NamedType[]): readonly Warning[] {
  return namesInDoubleQuotes(statement.text, statement.tokens, columns).map((name) => ({
    message: `"${name}" is a text here, not the column ${name}.`,
    hint: `Names are quoted in backticks: \`${name}\`.`,
  }));
}

function leaves(type: SqlType): number {
  if (type.kind === 'ARRAY') return leaves(type.element);
  return type.kind === 'STRUCT' ? type.fields.reduce((sum, field) => sum + leaves(field.type), 0) : 1;
}

const WORDS_OF_SQL = /^\s*(?:select|with|from)\s/i;

function looksLikeSql(text: string): readonly Warning[] {
  if (!WORDS_OF_SQL.test(text)) return [];
  return [{ message: 'This reads like SQL, and is read as LQL.', hint: 'Send SQL as the parameter sql.' }];
}
