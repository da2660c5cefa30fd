/** Small pieces of DuckDB SQL text, each correct wherever an expression may stand. */
import type { Span } from '@logquay/googlesql/syntax';
import type { ExecutionFault } from './contract/execution-faults';
import type { SqlType, StructField } from '@logquay/googlesql/types';

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A VARCHAR literal. NUL cannot stand in DuckDB's SQL text and is joined in by `chr(0)`. */
export function quoteText(text: string): string {
  if (!text.includes('\0')) return `'${text.replaceAll("'", "''")}'`;
  return `(${text
    .split('\0')
    .map((part) => quoteText(part))
    .join(' || chr(0) || ')})`;
}

/** The names that the fields of a STRUCT carry inside DuckDB, which knows no anonymous and no duplicate fields, and no NUL in a name. */
export function physicalFieldNames(fields: readonly StructField[]): string[] {
  const taken = new Map<string, number>();
  for (const { name } of fields) {
    if (name !== null) taken.set(name.toLowerCase(), (taken.get(name.toLowerCase()) ?? 0) + 1);
  }
  return fields.map(({ name }, i) =>
    name === null || name === '' || name.includes('\0') || taken.get(name.toLowerCase()) !== 1
      ? `_field_${i + 1}`
      : name,
  );
}

/**
 * A struct. DuckDB loses a field's name in a correlated subquery where its value is a macro's result ("Need named argument for
 * struct pack"), but not where that is in something else.
 *
 * @param fields name and value of each
 */
export function structOf(fields: readonly (readonly [name: string, value: string])[]): string {
  const values = fields.map(
    ([name, value]) => `${quoteText(name)}: ${MACRO_CALL.test(value) ? `coalesce(${value})` : value}`,
  );
  return `{${values.join(', ')}}`;
}

const MACRO_CALL = /^\(*lq_/;

/**
 * How a type is kept in DuckDB. TIMESTAMP and DATETIME are both the plain TIMESTAMP, in UTC the one and civil the other:
 * no session time zone can ever change a value.
 *
 * @param stored as tables hold it: a BIGNUMERIC with the digits that a DECIMAL has (scalar-functions/decimals.ts)
 */
export function duckType(type: SqlType, stored = false): string {
  switch (type.kind) {
    case 'BOOL':
      return 'BOOLEAN';
    case 'INT64':
      return 'BIGINT';
    case 'FLOAT64':
      return 'DOUBLE';
    case 'NUMERIC':
      return 'DECIMAL(38,9)';
    case 'BIGNUMERIC':
      return stored ? 'DECIMAL(38,18)' : 'BLOB';
    case 'STRING':
    case 'GEOGRAPHY':
      return 'VARCHAR';
    case 'BYTES':
      return 'BLOB';
    case 'DATE':
      return 'DATE';
    case 'TIME':
      return 'TIME';
    case 'DATETIME':
    case 'TIMESTAMP':
      return 'TIMESTAMP';
    case 'INTERVAL':
      return 'INTERVAL';
    case 'JSON':
      return 'JSON';
    case 'ARRAY':
      return `${duckType(type.element, stored)}[]`;
    case 'RANGE':
      throw new Error('a RANGE has no type here');
    case 'STRUCT': {
      const names = physicalFieldNames(type.fields);
      return `STRUCT(${type.fields.map((f, i) => `${quoteName(names[i]!)} ${duckType(f.type, stored)}`).join(', ')})`;
    }
  }
}

/** Whether a text that DuckDB reads as JSON has a match of a regular expression outside of its strings. */
export function besideStrings(text: string, pattern: string): string {
  return String.raw`regexp_matches(${text}, '(?is)^(?:[^"]|"(?:[^"\\]|\\.)*")*?(?:${pattern})')`;
}

/** A text as JSON, or NULL: DuckDB reads NaN and Infinity there, in any case, and a comma before a closing bracket. */
export function jsonOf(text: string): string {
  return `CASE WHEN NOT ${besideStrings(text, String.raw`nan|inf|,\s*[\]}]`)} THEN TRY_CAST(${text} AS JSON) END`;
}

export function sameType(a: SqlType, b: SqlType): boolean {
  if (a.kind === 'ARRAY' || a.kind === 'RANGE') return a.kind === b.kind && sameType(a.element, b.element);
  if (a.kind === 'STRUCT' && b.kind === 'STRUCT') return duckType(a, true) === duckType(b, true);
  return a.kind === b.kind;
}

/** GoogleSQL's spelling of a type, for messages. */
export function typeName(type: SqlType): string {
  if (type.kind === 'ARRAY' || type.kind === 'RANGE') return `${type.kind}<${typeName(type.element)}>`;
  if (type.kind !== 'STRUCT') return type.kind;
  return `STRUCT<${type.fields.map((f) => (f.name === null ? '' : `${f.name} `) + typeName(f.type)).join(', ')}>`;
}

/** Always true; DuckDB does not know. */
const VOLATILE_TRUE = '(random() < 2)';

const SIMPLE =
  /^(?:(?:"c\d+"|v\d+)(?:\."(?:[^"]|"")+")*|CAST\(\$\d+ AS \w+\)|\$\d+|-?\d+(?:\.\d+)?(?:::\w+)?|'(?:[^']|''){0,60}'|CAST\('-?[\d.]+' AS DECIMAL\(38,9\)\)|unhex\('[0-9a-f]{64}'\)|NULL|true|false|(?:TIMESTAMP|DATE) '[^']*')$/;

/** The same value, of which DuckDB does not know that it is the same each time. TRY refuses it inside. */
export function volatile(sql: string): string {
  return `CASE WHEN ${VOLATILE_TRUE} THEN ${sql} END`;
}

/** Whether a text is a name, a parameter or a short literal, which may be repeated without being computed twice. */
export function isSimple(sql: string): boolean {
  return SIMPLE.test(sql);
}

/** What may go wrong while a query runs. */
export type Failure = ExecutionFault;

export const FAILURE_MARK = 'logquay:';

/**
 * An expression, of any type, that fails when, and only when, it is evaluated for a row. It is volatile: nothing around it
 * folds, so a cast that bounds a scan must fail by itself (macros.ts). A failing cast here would fold, but planning would
 * run it, and an exception costs a third of a millisecond each time.
 *
 * @param place of what fails, in the text of the query
 */
export function fail(failure: Failure, place: Span | null = null): string {
  const at = place === null ? '' : `@${place.start}-${place.end}`;
  return `error(${quoteText(FAILURE_MARK + failure + at)})`;
}

export const OVERLOAD = 'overload';

/** The same for a function that would have too much to do for the rows that it is called with at once. */
export function overload(functionName: string, { start, end }: Span): string {
  return `error(${quoteText(`${FAILURE_MARK}${OVERLOAD}.${functionName}@${start}-${end}`)})`;
}
