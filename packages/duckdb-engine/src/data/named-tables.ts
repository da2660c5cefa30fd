/** Tables by their names in queries, which may be those of several (docs/data.md). */
import { type NamedType, type RestField, type SqlType, TABLE_SUFFIX, columnsOf } from '@logquay/googlesql/types';
import { isWildcard } from '../contract/table-names';
import { sameFields } from '../follow/inferred-schema';
import { castColumns, SOURCE_COLUMN } from '../follow/segment';
import { quoteName, quoteText } from '../sql';
import { type Part, type Shard, type StoredTable, unknownPart } from './part';

/** Finds tables, and keeps what it has made of several. */
export class NamedTables {
  readonly #made = new Map<string, StoredTable | undefined>();

  constructor(private readonly tables: ReadonlyMap<string, StoredTable>) {}

  find(name: string): StoredTable | undefined {
    if (!isWildcard(name)) return this.tables.get(name);
    if (!this.#made.has(name)) this.#made.set(name, unitedTable(name, [...this.tables.values()]));
    return this.#made.get(name);
  }
}

/** What a table is to wildcards. */
const shardsOf = ({ schema, shards }: StoredTable): readonly Shard[] => shards ?? [{ name: schema.name, sources: [] }];

const isMeant =
  (wildcard: string) =>
  ({ name }: Shard): boolean =>
    name.startsWith(wildcard.slice(0, -1));

function unitedTable(name: string, tables: readonly StoredTable[]): StoredTable | undefined {
  const meant = tables.filter((table) => shardsOf(table).some(isMeant(name)));
  // The newest first, as far as names tell: that says which columns come first.
  meant.sort((a, b) => (a.schema.name < b.schema.name ? 1 : -1));
  const [first, ...others] = meant;
  if (first === undefined) return undefined;
  const conflicts: string[] = [];
  const fields = others.reduce(
    (all, { schema }) => united(all, fieldsOf(schema.columns), (path) => conflicts.push(`${schema.name}.${path}`)),
    fieldsOf(first.schema.columns),
  );
  const parts = meant.flatMap((table) => partsOf(table, name, fields));
  const [conflict] = conflicts;
  return {
    schema: { name, columns: columnsOf(fields), pseudo: [TABLE_SUFFIX] },
    parts: parts.length > 0 ? parts : [emptyPart(first, fields)],
    revision: meant.map(({ schema, revision }) => `${schema.name} ${revision}`).join(),
    unserved: meant.some(({ unserved }) => unserved === true),
    ...(conflict === undefined ? {} : { conflict }),
  };
}

/** The parts of a table with the rows that a name means, as rows of the united table. */
function partsOf(table: StoredTable, name: string, fields: readonly RestField[]): Part[] {
  const shards = shardsOf(table).filter(isMeant(name));
  return table.parts.flatMap((part): Part | [] => {
    if (table.shards === undefined) return unitedPart(table, part, fields, suffixOf(name, table.schema.name), []);
    const of = shards.map(({ name: shard, sources }) => ({
      suffix: suffixOf(name, shard),
      sources: part.sources === undefined ? sources : sources.filter((source) => part.sources!.includes(source)),
    }));
    const own = of.filter(({ sources }) => sources.length > 0);
    const [only, ...more] = own;
    if (only === undefined) return [];
    const cases = own.map(({ suffix, sources }) => `WHEN ${SOURCE_COLUMN} IN (${sources.join(', ')}) THEN ${suffix}`);
    const suffix = more.length === 0 ? only.suffix : `CASE ${cases.join(' ')} END`;
    return unitedPart(
      table,
      part,
      fields,
      suffix,
      own.flatMap(({ sources }) => sources),
    );
  });
}

/** SQL: what stands for the star. */
const suffixOf = (name: string, shard: string): string => quoteText(shard.slice(name.length - 1));

/** @param suffix SQL @param sources whose rows are meant; none: all are */
function unitedPart(
  { schema }: StoredTable,
  part: Part,
  fields: readonly RestField[],
  suffix: string,
  sources: readonly number[],
): Part {
  const own = fieldsOf(schema.columns);
  const same = sameFields(own, fields);
  const columns = same ? '*' : castColumns(own, fields, part.single);
  const where = sources.length === 0 ? '' : ` WHERE ${SOURCE_COLUMN} IN (${sources.join(', ')})`;
  const relation = `(SELECT ${columns}, ${suffix} AS ${quoteName(TABLE_SUFFIX.name)} FROM ${part.relation}${where})`;
  return { ...part, relation, single: same ? part.single : new Set() };
}

function emptyPart(table: StoredTable, fields: readonly RestField[]): Part {
  const { relation } = unitedPart(table, table.parts[0]!, fields, "''", []);
  return unknownPart(`(FROM ${relation} WHERE false)`);
}

/** The columns of a table as fields, REQUIRED forgotten. */
function fieldsOf(columns: readonly NamedType[]): readonly RestField[] {
  return columns.map(({ name, type }) => fieldOf(name, type));
}

function fieldOf(name: string, type: SqlType): RestField {
  switch (type.kind) {
    case 'ARRAY':
      return { ...fieldOf(name, type.element), mode: 'REPEATED' };
    case 'STRUCT': {
      const fields = type.fields.map((field) => fieldOf(field.name ?? '', field.type));
      return { name, type: 'RECORD', mode: 'NULLABLE', fields };
    }
    case 'RANGE':
      return { name, type: 'RANGE', mode: 'NULLABLE', fields: [], element: type.element.kind };
    default:
      return { name, type: type.kind, mode: 'NULLABLE', fields: [] };
  }
}

/** Types of numbers, each with all values of those before it. */
const NUMBERS: readonly RestField['type'][] = ['INT64', 'NUMERIC', 'FLOAT64'];

/** The fields of both, by their names at every depth; numbers take the wider type. @param onConflict takes the path of a field with another type */
function united(
  fields: readonly RestField[],
  others: readonly RestField[],
  onConflict: (path: string) => void,
): readonly RestField[] {
  const all = [...fields];
  for (const other of others) {
    const index = all.findIndex(({ name }) => name.toLowerCase() === other.name.toLowerCase());
    const known = all[index];
    if (known === undefined) {
      all.push(other);
      continue;
    }
    const { name, type, mode } = known;
    if (mode !== other.mode) onConflict(name);
    else if (type === 'RECORD' && other.type === 'RECORD')
      all[index] = { ...known, fields: united(known.fields, other.fields, (path) => onConflict(`${name}.${path}`)) };
    else if (type !== other.type) {
      const wider = Math.max(NUMBERS.indexOf(type), NUMBERS.indexOf(other.type));
      if (NUMBERS.includes(type) && NUMBERS.includes(other.type)) all[index] = { ...known, type: NUMBERS[wider]! };
      else onConflict(name);
    }
  }
  return all;
}
