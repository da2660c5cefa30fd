/** How a path of LQL is written in SQL: by the types of what it leads through, where they are known. */
import { type FieldPath, fieldNamed, fieldsOf, followPath, segmentsOf } from '../field-path';
import type { NamedType, SqlType, StructField } from '../types';
import { textLiteral } from './operand';
import { quotedName } from '../escapes';
import { LqlError } from './lql-error';
import type { Span } from './rules';

/** Most arrays that one query unfolds: far more than any question needs, and a bound on the SQL that comes of it. */
const MAX_ARRAYS = 200;

/** A path with its place in the LQL text. */
export interface PathUse {
  readonly path: string;
  readonly pathSpan: Span;
}

/**
 * What a value without a type of its own is read as: a value in JSON, or of key and value records whose values have several types.
 * `there`: NULL where there is none; `selected`: as it stands. Any other field is what its type says.
 */
export type Form = 'text' | 'integer' | 'float' | 'boolean' | 'list' | 'there' | 'selected';

const CASTS: Readonly<Partial<Record<Form, string>>> = { integer: 'INT64', float: 'FLOAT64', boolean: 'BOOL' };

interface Join {
  readonly alias: string;
  readonly array: string;
  readonly inner: boolean;
  readonly span: Span;
}

/** The type at the end of a path; 'any': it differs from row to row. null: the path leads nowhere, or the columns are not known. */
export function typeAtEnd(path: string, columns: readonly NamedType[]): SqlType | 'any' | null {
  const found = followPath(columns, segmentsOf(path) ?? []);
  if (found === null) return null;
  if (found.kind === 'json' || (found.kind === 'field' && found.type.kind === 'JSON')) return 'any';
  if (found.kind === 'field') return found.type;
  const { type } = found.member ?? found.pair.value;
  return type.kind === 'STRUCT' || type.kind === 'JSON' ? 'any' : type;
}

/**
 * The fields that a query names, and the chains of UNNEST joins behind those in lists of records: paths with a common prefix share
 * its element. Filters and charts must be referred to before selections, so that a prefix that only a selection uses is joined LEFT
 * and loses no rows. Where no columns are known, every part of a path but the last is taken for a list of records.
 */
export class Fields {
  private readonly joins = new Map<string, Join>();

  /** `root` is the alias of the table itself. */
  constructor(
    private readonly root: string,
    private readonly columns: readonly NamedType[] | null,
  ) {}

  /** SQL for the field at the end of `path`. */
  field({ path, pathSpan }: PathUse, use: 'filter' | 'select', form: Form): string {
    const segments = segmentsOf(path) ?? [path];
    const found = this.columns === null ? null : followPath(this.columns, segments);
    if (found === null) return this.owner(segments, use, pathSpan);
    const { steps } = found;
    const names = found.kind === 'json' ? steps.map(({ name }) => name) : segments.slice(0, steps.length);
    const owner = this.owner(names, use, pathSpan);
    if (found.kind === 'pair') return valueOfPair(owner, found, form);
    if (found.kind === 'json') return inJson(owner, found.keys, form);
    return found.type.kind === 'JSON' && form !== 'selected' ? inJson(owner, [], form) : owner;
  }

  /** A column, or a field of records, each list among which is joined. */
  private owner(segments: readonly string[], use: 'filter' | 'select', span: Span): string {
    let owner = this.root;
    let prefix = '';
    let fields: readonly StructField[] | null = this.columns;
    for (const [i, segment] of segments.entries()) {
      const field = `${owner}.${quotedName(segment)}`;
      const type: SqlType | undefined = fields === null ? undefined : fieldNamed(fields, segment)?.type;
      const isList = fields === null || type?.kind === 'ARRAY';
      if (i === segments.length - 1 || !isList) owner = field;
      else {
        // Columns ignore case in BigQuery, so two spellings are one array.
        const key = `${prefix}${segment.toLowerCase()}.`;
        owner = (this.joins.get(key) ?? this.join(key, field, use, span)).alias;
      }
      prefix += `${segment.toLowerCase()}.`;
      if (fields !== null) fields = type === undefined ? [] : fieldsOf(type);
    }
    return owner;
  }

  private join(prefix: string, array: string, use: 'filter' | 'select', span: Span): Join {
    if (this.joins.size === MAX_ARRAYS) {
      throw new LqlError('too_many_arrays', `the paths go through more than ${MAX_ARRAYS} arrays`, span);
    }
    const join = { alias: `u${this.joins.size + 1}`, array, inner: use === 'filter', span };
    this.joins.set(prefix, join);
    return join;
  }

  write(sql: { add(text: string, span: Span): typeof sql }): void {
    for (const { alias, array, inner, span } of this.joins.values()) {
      sql.add(` ${inner ? 'INNER' : 'LEFT'} JOIN UNNEST(`, span).add(`${array}) AS ${alias} ON TRUE`, span);
    }
  }
}

/** Keys in front of one with dots that are tried, beside all of them as nested: a bound on the SQL. */
const MOST_BEFORE = 3;

/** A value in JSON: of nested keys, or of one whose name has dots, as attributes of OpenTelemetry have. */
function inJson(json: string, keys: readonly string[], form: Form): string {
  const paths = keys.length === 0 ? ['$'] : keySpellings(keys).map((spelling) => jsonPath(spelling));
  const first = (call: (path: string) => string): string => coalesce(paths.map((path) => call(textLiteral(path))));
  switch (form) {
    case 'selected':
      return first((path) => `JSON_QUERY(${json}, ${path})`);
    case 'there':
      return first((path) => `NULLIF(JSON_TYPE(JSON_QUERY(${json}, ${path})), 'null')`);
    case 'list':
      return first((path) => `JSON_VALUE_ARRAY(${json}, ${path})`);
    default:
      return cast(
        first((path) => `JSON_VALUE(${json}, ${path})`),
        form,
      );
  }
}

/** SQL of the text at the end of a path of keys in JSON, as `inJson` finds it. */
export function textInJson(json: string, keys: readonly string[]): string {
  return inJson(json, keys, 'text');
}

/** What a path of keys may mean, in order: all of them one in the other, then more and more of the last as one with dots. */
export function keySpellings(keys: readonly string[]): readonly (readonly string[])[] {
  const nested = keys.map((_, i) => keys.length - 1 - i).filter((before, i) => i === 0 || before <= MOST_BEFORE);
  return nested.map((before) => [...keys.slice(0, before), keys.slice(before).join('.')]);
}

function jsonPath(keys: readonly string[]): string {
  return `$${keys.map((key) => `."${key.replace(/["\\]/g, '\\$&')}"`).join('')}`;
}

function coalesce(all: readonly string[]): string {
  return all.length === 1 ? (all[0] ?? '') : `COALESCE(${all.join(', ')})`;
}

function cast(text: string, form: Form): string {
  const type = CASTS[form];
  return type === undefined ? text : `SAFE_CAST(${text} AS ${type})`;
}

/** The value beside the first of the keys. */
function valueOfPair(list: string, { key, pair, member }: Extract<FieldPath, { kind: 'pair' }>, form: Form): string {
  const step = member ?? pair.value;
  const names = [pair.value, ...(member === null ? [] : [member])].map(({ name }) => `.${quotedName(name)}`);
  const value = `p${names.join('')}`;
  const found = `SELECT ${valueInForm(value, step.type, form)} FROM UNNEST(${list}) AS p WHERE p.${quotedName(pair.key.name)} = ${textLiteral(key)}`;
  // Many times faster than LIMIT 1; there are no arrays of arrays.
  return step.type.kind === 'ARRAY' ? `(${found} LIMIT 1)` : `ARRAY(${found})[SAFE_OFFSET(0)]`;
}

function valueInForm(value: string, type: SqlType, form: Form): string {
  if (type.kind === 'JSON') return form === 'selected' ? value : inJson(value, [], form);
  return type.kind === 'STRUCT' ? cast(coalesce(textsOf(value, type.fields)), form) : value;
}

/** The members of a value of several types, of which one is there, as texts. */
function textsOf(value: string, members: readonly StructField[]): readonly string[] {
  const texts = members.flatMap(({ name, type: { kind } }) => {
    if (name === null || kind === 'ARRAY' || kind === 'STRUCT' || kind === 'BYTES' || kind === 'GEOGRAPHY') return [];
    const field = `${value}.${quotedName(name)}`;
    if (kind === 'JSON') return [`JSON_VALUE(${field}, '$')`];
    return [kind === 'STRING' ? field : `CAST(${field} AS STRING)`];
  });
  return texts.length === 0 ? ['CAST(NULL AS STRING)'] : texts;
}
