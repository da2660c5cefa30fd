/** Completions in LQL: by the clause that the cursor is in. */
import { AGGREGATES } from '../../lql/rules';
import { LEVELS, type Roles, rolesOf } from '../../roles';
import { typeText, NUMBERS } from '../../type-names';
import { fieldsOf, pairOf, pathText } from '../../field-path';
import type { NamedType, SqlType, StructField } from '../../types';
import type { ConsumerTable } from '../analysis';
import { type Completion, type Completions, matching, type WrittenText } from './completion';

/** The end of a text that is looked at: clauses are short. */
const LONGEST_CLAUSE = 1_000;
const PATH = /^[A-Za-z_]\w*$/;
/** A name that a path can hold, in backticks if need be. */
const WRITABLE = /^[^`"\\\s\p{Cc}]+$/u;

export function completeLql({ text, position, tables }: WrittenText): Completions {
  const at = Math.min(Math.max(0, position), text.length);
  const clause = clauseBefore(text, at);
  if (clause === null) return { span: { start: at, end: at }, items: [] };
  const table = tableOf(text, tables);
  const { from, items } = offersFor(clause, table, tables);
  let end = at;
  while (end < text.length && /[\w.@`]/.test(text[end] ?? '')) end++;
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
function tableOf(text: string, tables: readonly ConsumerTable[]): ConsumerTable | undefined {
  const named = /(?:^|[ \t\r\n])(?:f|from):(\w+)/.exec(text)?.[1];
  return tables.find(({ name }) => name === named) ?? tables[0];
}

interface Offers {
  /** Where in the clause the word begins that is replaced. */
  readonly from: number;
  readonly items: readonly Completion[];
}

function offersFor(clause: string, table: ConsumerTable | undefined, tables: readonly ConsumerTable[]): Offers {
  const colon = clause.indexOf(':');
  const fields = reachable(table?.columns ?? []);
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
      const roles = table === undefined ? null : (table.roles ?? rolesOf(table.columns));
      return {
        from,
        items: operands(
          fields.find((field) => field.path === path),
          roles,
        ),
      };
    }
  }
}

interface Field {
  /** With `metadata.` spelt out. */
  readonly path: string;
  readonly type: SqlType;
}

/** The fields that a path of LQL reaches; of JSON, and of key and value records, where the path goes on with a key. */
function reachable(columns: readonly (NamedType | StructField)[], owner: readonly string[] = []): Field[] {
  return columns.flatMap(({ name, type }): Field[] => {
    if (name === null || !WRITABLE.test(name) || owner.length > 19) return [];
    const segments = [...owner, name];
    const path = pathText(segments);
    if (type.kind === 'JSON' || pairOf(type) !== null) return [{ path: `${path}.`, type }];
    const fields = fieldsOf(type);
    return fields.length === 0 ? [{ path, type }] : reachable(fields, segments);
  });
}

const shortened = (path: string): string => path.replace(/^metadata\./, 'm.');

function fieldClauses(fields: readonly Field[]): Completion[] {
  return fields.map(({ path, type }) => ({
    ...fieldCompletion(path, type),
    insert: `${shortened(path)}${goesOn(path) ? '' : ':'}`,
  }));
}

/** Whether a key follows. */
const goesOn = (path: string): boolean => path.endsWith('.');

function fieldCompletion(path: string, type: SqlType): Completion {
  const label = shortened(path);
  return { label, kind: /\../.test(path) ? 'field' : 'column', insert: label, type: typeText(type) };
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
      .filter(({ path, type }) => type.kind !== 'ARRAY' && !goesOn(path))
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
function operands(field: Field | undefined, roles: Roles | null): Completion[] {
  if (field === undefined) return [];
  const { path, type } = field;
  if (type.kind === 'ARRAY') return [word('@>', 'operator', 'the list holds')];
  const missing = word('NULL', 'value', 'there is no value');
  if (type.kind === 'BOOL') return [word('true', 'value'), word('false', 'value'), missing];
  const levels = path === 'metadata.level' || path === pathText(roles?.severity?.path ?? []) ? LEVELS : [];
  const graver = levels.slice(0, -1).map((level) => word(`${level}..emergency`, 'value', 'this level or graver'));
  if (NUMBERS.has(type.kind)) return [...ORDERED, ...graver, missing];
  if (type.kind !== 'STRING') return [missing];
  return [
    ...levels.map((level) => word(level, 'value')),
    ...graver,
    word('~', 'operator', 'matches a pattern', '~"'),
    missing,
  ];
}
