/** Completions in LQL: by the clause that the cursor is in. */
import { AGGREGATES } from '../../lql/rules';
import { LEVELS } from '../../roles';
import { typeText, NUMBERS } from '../../type-names';
import type { NamedType, SqlType, StructField, TableSchema } from '../../types';
import { type Completion, type Completions, matching, type WrittenText } from './completion';

/** The end of a text that is looked at: clauses are short. */
const LONGEST_CLAUSE = 1_000;
const PATH = /^[A-Za-z_]\w*$/;

export function completeLql({ text, position, tables }: WrittenText): Completions {
  const at = Math.min(Math.max(0, position), text.length);
  const clause = clauseBefore(text, at);
  if (clause === null) return { span: { start: at, end: at }, items: [] };
  const table = tableOf(text, tables);
  const { from, items } = offersFor(clause, table, tables);
  let end = at;
  while (end < text.length && /[\w.]/.test(text[end] ?? '')) end++;
  const start = at - (clause.length - from);
  return { span: { start, end }, items: matching(clause.slice(from), items) };
}

/** What is written of the clause at the cursor; null: inside of a text in quotes. */
function clauseBefore(text: string, at: number): string | null {
  const before = text.slice(0, at);
  let isQuoted = false;
  let start = 0;
  for (let i = 0; i < before.length; i++) {
    const unit = before[i] ?? '';
    if (unit === '\\' && isQuoted) i++;
    else if (unit === '"') isQuoted = !isQuoted;
    else if (!isQuoted && /[ \t\r\n]/.test(unit)) start = i + 1;
  }
  const clause = before.slice(start).replace(/^-/, '');
  return isQuoted || clause.length > LONGEST_CLAUSE ? null : clause;
}

/** The table that `f:` names, else the only or first one. */
function tableOf(text: string, tables: readonly TableSchema[]): TableSchema | undefined {
  const named = /(?:^|[ \t\r\n])(?:f|from):(\w+)/.exec(text)?.[1];
  return tables.find(({ name }) => name === named) ?? tables[0];
}

interface Offers {
  /** Where in the clause the word begins that is replaced. */
  readonly from: number;
  readonly items: readonly Completion[];
}

function offersFor(clause: string, table: TableSchema | undefined, tables: readonly TableSchema[]): Offers {
  const colon = clause.indexOf(':');
  const fields = fieldsOf(table?.columns ?? []);
  if (colon < 0) return { from: 0, items: [...fieldClauses(fields), ...CLAUSES] };
  const [head, from] = [clause.slice(0, colon), colon + 1];
  switch (head) {
    case 'f':
    case 'from':
      return { from, items: tables.filter(({ name }) => PATH.test(name)).map(({ name }) => word(name, 'table')) };
    case 's':
    case 'select':
      return { from, items: [word('*', 'column'), ...fields.map(({ path, type }) => fieldCompletion(path, type))] };
    case 't':
    case 'timestamp':
      return { from, items: TIMES };
    case 'c':
    case 'chart':
      return { from, items: charts(fields) };
    default: {
      const path = head.replace(/^m\./, 'metadata.');
      return { from, items: operands(fields.find((field) => field.path === path)) };
    }
  }
}

interface Field {
  /** With `metadata.` spelt out. */
  readonly path: string;
  readonly type: SqlType;
}

/** The fields that a path of LQL reaches: every part but the last is an array of records. */
function fieldsOf(columns: readonly (NamedType | StructField)[], owner = '', level = 1): Field[] {
  return columns.flatMap(({ name, type }): Field[] => {
    if (name === null || !PATH.test(name) || level > 20) return [];
    const path = owner + name;
    if (type.kind === 'STRUCT') return [];
    if (type.kind !== 'ARRAY' || type.element.kind !== 'STRUCT') return [{ path, type }];
    return fieldsOf(type.element.fields, `${path}.`, level + 1);
  });
}

const shortened = (path: string): string => path.replace(/^metadata\./, 'm.');

/** Heads of clauses that a column of such a name has no filter beside. */
const HEADS = new Set(['f', 'from', 'c', 'chart', 's', 'select', 't']);

function fieldClauses(fields: readonly Field[]): Completion[] {
  return fields
    .filter(({ path }) => !HEADS.has(path))
    .map(({ path, type }) => ({ ...fieldCompletion(path, type), insert: `${shortened(path)}:` }));
}

function fieldCompletion(path: string, type: SqlType): Completion {
  const label = shortened(path);
  return { label, kind: path.includes('.') ? 'field' : 'column', insert: label, type: typeText(type) };
}

function word(label: string, kind: Completion['kind'], detail?: string, insert = label): Completion {
  return { label, kind, insert, ...(detail === undefined ? {} : { detail }) };
}

const CLAUSES = [
  word('f:', 'keyword', 'the table'),
  word('s:', 'keyword', 'select a field'),
  word('c:', 'keyword', 'chart instead of rows'),
  word('t:', 'keyword', 'a window of time'),
];

const TIMES = [
  word('last@15m', 'value', 'the last 15 minutes'),
  word('last@1h', 'value', 'the last hour'),
  word('last@1d', 'value', 'the last day'),
  word('last@7d', 'value', 'the last 7 days'),
  word('today', 'value', 'since midnight, UTC'),
  word('yesterday', 'value', 'the day before, UTC'),
  word('this@hour', 'value', 'since the hour began'),
  word('this@week', 'value', 'since Monday'),
];

function charts(fields: readonly Field[]): Completion[] {
  const numbers = fields.filter(({ type }) => NUMBERS.has(type.kind));
  return [
    word('count(*)', 'function', 'rows of a bucket'),
    ...['minute', 'hour', 'day', 'second'].map((unit) => word(`group_by(t::${unit})`, 'function', 'the bucket')),
    ...AGGREGATES.filter((name) => name !== 'count' && name !== 'countd').flatMap((name) =>
      numbers.map(({ path }) => word(`${name}(${shortened(path)})`, 'function')),
    ),
    ...fields
      .filter(({ type }) => type.kind !== 'ARRAY')
      .map(({ path }) => word(`countd(${shortened(path)})`, 'function')),
  ];
}

const ORDERED = [
  word('>', 'operator', 'greater than'),
  word('>=', 'operator', 'greater or equal'),
  word('<', 'operator', 'less than'),
  word('<=', 'operator', 'less or equal'),
];

/** Operators and values that fit the type; the names of levels are LQL's own. */
function operands(field: Field | undefined): Completion[] {
  if (field === undefined) return [];
  const { path, type } = field;
  if (type.kind === 'ARRAY') return [word('@>', 'operator', 'the list holds')];
  const missing = word('NULL', 'value', 'there is no value');
  if (type.kind === 'BOOL') return [word('true', 'value'), word('false', 'value'), missing];
  if (NUMBERS.has(type.kind)) return [...ORDERED, missing];
  if (type.kind !== 'STRING') return [missing];
  const levels = path === 'metadata.level' ? LEVELS : [];
  return [
    ...levels.map((level) => word(level, 'value')),
    ...levels.slice(0, -1).map((level) => word(`${level}..emergency`, 'value', 'this level or graver')),
    word('~', 'operator', 'matches a pattern', '~"'),
    missing,
  ];
}
