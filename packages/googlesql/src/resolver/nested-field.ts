/** Where a name is that is no column: in a record below one, and how a query gets there. */
import type { NamedType, SqlType } from '../types';
import { nearest } from './suggestion';

/** Fields that are looked at: a log table has some hundreds. */
const MOST_FIELDS = 2_000;

/** A record that can be reached, and how. */
interface Reached {
  /** As it is written in a query: a column, or an alias of UNNEST and fields from there. */
  readonly expression: string;
  /** Names from the column on. */
  readonly path: readonly string[];
  readonly joins: readonly string[];
  readonly type: SqlType;
}

interface Field extends Reached {
  readonly name: string;
}

/** A field below `columns` that `name` probably means. */
export interface NestedField {
  /** Whether it has this very name. */
  readonly exact: boolean;
  readonly name: string;
  /** The record that it is in, by its path. */
  readonly record: string;
  /** `status_code is in metadata.response: ...` */
  readonly hint: string;
}

/**
 * The nearest field of that name, else one whose name it begins, else one that is spelt alike; undefined: there is none.
 *
 * @param alias what a query writes before a column, with its dot
 */
export function nestedField(name: string, columns: readonly NamedType[], alias = ''): NestedField | undefined {
  const fields = fieldsBelow(columns, alias);
  const wanted = name.toLowerCase();
  const exact = fields.find((field) => field.name.toLowerCase() === wanted);
  const longer = fields.find((field) => field.name.toLowerCase().startsWith(`${wanted}_`));
  const near = nearest(
    name,
    fields.map((field) => field.name),
  );
  const found = exact ?? longer ?? fields.find((field) => field.name === near);
  return found === undefined ? undefined : nestedFieldOf(found, found === exact);
}

function nestedFieldOf({ name, path, joins, expression }: Field, exact: boolean): NestedField {
  const record = path.slice(0, -1).join('.');
  const way = joins.length === 0 ? 'write' : `add ${joins.join(' ')} and write`;
  return { exact, name, record, hint: `${name} is in ${record}: ${way} ${expression}.` };
}

/** Fields of records below the columns, those of outer records first. */
function fieldsBelow(columns: readonly NamedType[], alias: string): readonly Field[] {
  const found: Field[] = [];
  const queue: Reached[] = columns.map(({ name, type }) => ({
    expression: `${alias}${name}`,
    path: [name],
    joins: [],
    type,
  }));
  for (let at = 0; at < queue.length && found.length < MOST_FIELDS; at++) {
    const record = recordOf(queue[at]!);
    if (record.type.kind !== 'STRUCT') continue;
    for (const { name, type } of record.type.fields) {
      if (name === null) continue;
      const { joins, path, expression } = record;
      const field = { name, joins, path: [...path, name], expression: `${expression}.${name}`, type };
      found.push(field);
      queue.push(field);
    }
  }
  return found;
}

/** A record itself, or what UNNEST makes of a list of records. */
function recordOf(reached: Reached): Reached {
  const { type, path, joins, expression } = reached;
  if (type.kind !== 'ARRAY') return reached;
  const letter = (path.at(-1) ?? 'e').charAt(0).toLowerCase();
  const taken = joins.filter((join) => join.slice(join.lastIndexOf(' ') + 1).startsWith(letter)).length;
  const alias = taken === 0 ? letter : `${letter}${taken + 1}`;
  return {
    type: type.element,
    path,
    joins: [...joins, `CROSS JOIN UNNEST(${expression}) AS ${alias}`],
    expression: alias,
  };
}
