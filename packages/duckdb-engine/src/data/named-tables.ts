/** Tables by their names in queries, which may be those of several (docs/data.md). */
import {
  type NamedType,
  type RestField,
  type SqlType,
  TABLE_SUFFIX,
  type TimeUnits,
  columnsOf,
} from '@logquay/googlesql/types';
import { isWildcard } from '../contract/table-names';
import { sameFields } from '../follow/inferred-schema';
import { castColumns, SOURCE_COLUMN } from '../follow/segment';
import { quoteName, quoteText } from '../sql';
import { type Part, type Shard, type StoredTable, unknownPart } from './part';

/** Finds tables, and keeps what it has made of several. */
export class NamedTables {
  readonly #made = new Map<string, StoredTable | undefined>();

  /** @param suffixes of the tables that are wanted of wildcards; all of those that it does not have */
  constructor(
    private readonly tables: ReadonlyMap<string, StoredTable>,
    private readonly suffixes: ReadonlyMap<string, readonly string[]> = new Map(),
  ) {}

  find(name: string): StoredTable | undefined {
    if (!isWildcard(name)) return this.tables.get(name);
    if (!this.#made.has(name)) this.#made.set(name, this.#united(name));
    return this.#made.get(name);
  }

  #united(name: string): StoredTable | undefined {
    const suffixes = this.suffixes.get(name);
    const isWanted = suffixes && new Set(suffixes);
    return unitedTable(name, [...this.tables.values()], (suffix) => isWanted?.has(suffix) !== false);
  }
}

/** What a table is to wildcards. */
const shardsOf = ({ schema, shards }: StoredTable): readonly Shard[] => shards ?? [{ name: schema.name, sources: [] }];

const isMeant =
  (wildcard: string) =>
  ({ name }: Shard): boolean =>
    name.startsWith(wildcard.slice(0, -1));

function unitedTable(
  name: string,
  tables: readonly StoredTable[],
  isWanted: (suffix: string) => boolean,
): StoredTable | undefined {
  const meant = tables.filter((table) => shardsOf(table).some(isMeant(name)));
  // The newest first, as far as names tell: that says which columns come first.
  meant.sort((a, b) => (a.schema.name < b.schema.name ? 1 : -1));
  // Of a table that is declared no day has come yet: `events` for `events_*`.
  const [
    first = tables.find(
      ({ schema }) =>
        /^_\*$/.test(name.slice(schema.name.length)) && name.startsWith(schema.name) && schema.columns.length > 0,
    ),
    ...others
  ] = meant;
  if (first === undefined) return undefined;
  const conflicts: string[] = [];
  const fields = others.reduce(
    (all, { schema }) => united(all, fieldsOf(schema.columns), (path) => conflicts.push(`${schema.name}.${path}`)),
    fieldsOf(first.schema.columns),
  );
  const parts = meant.flatMap((table) => partsOf(table, name, fields, isWanted));
  const [conflict] = conflicts;
  return {
    schema: { name, columns: columnsOf(fields), pseudo: [TABLE_SUFFIX], timeUnits: unitsOf(meant) },
    parts: parts.length > 0 ? parts : [emptyPart(first, fields)],
    suffixes: meant.flatMap((table) =>
      shardsOf(table)
        .filter(isMeant(name))
        .map((shard) => suffixOf(name, shard)),
    ),
    revision: meant.map(({ schema, revision }) => `${schema.name} ${revision}`).join(),
    unserved: meant.some(({ unserved }) => unserved === true),
    inferred: meant.some(({ inferred }) => inferred === true),
    ...(conflict === undefined ? {} : { conflict }),
  };
}

/** Units that all tables have for a column. */
function unitsOf(tables: readonly StoredTable[]): TimeUnits {
  const all = tables.flatMap(({ schema: { timeUnits } }) => [...(timeUnits ?? [])]);
  const isOfAll = (name: string, unit: string): boolean =>
    tables.every(
      ({ schema: { columns, timeUnits } }) =>
        timeUnits?.get(name) === unit || !columns.some((column) => column.name === name),
    );
  return new Map(all.filter(([name, unit]) => isOfAll(name, unit)));
}

/** The parts of a table with the rows that a name means, as rows of the united table. */
function partsOf(
  table: StoredTable,
  name: string,
  fields: readonly RestField[],
  isWanted: (suffix: string) => boolean,
): Part[] {
  const shards = shardsOf(table).filter((shard) => isMeant(name)(shard) && isWanted(suffixOf(name, shard)));
  if (shards.length === 0) return [];
  return table.parts.flatMap((part): Part | [] => {
    const suffixes = shards.map((shard) => ({
      text: quoteText(suffixOf(name, shard)),
      sources: part.sources === undefined ? shard.sources : shard.sources.filter((one) => part.sources!.includes(one)),
    }));
    if (table.shards === undefined) return unitedPart(table, part, fields, suffixes[0]!.text, []);
    const own = suffixes.filter(({ sources }) => sources.length > 0);
    const [only, ...more] = own;
    if (only === undefined) return [];
    const cases = own.map(({ text, sources }) => `WHEN ${SOURCE_COLUMN} IN (${sources.join(', ')}) THEN ${text}`);
    const suffix = more.length === 0 ? only.text : `CASE ${cases.join(' ')} END`;
    return unitedPart(
      table,
      part,
      fields,
      suffix,
      own.flatMap(({ sources }) => sources),
    );
  });
}

/** What stands for the star. */
const suffixOf = (name: string, shard: Shard): string => shard.name.slice(name.length - 1);

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
  const columns = same ? ['*'] : castColumns(own, fields, part.single);
  const where = sources.length === 0 ? '' : ` WHERE ${SOURCE_COLUMN} IN (${sources.join(', ')})`;
  const all = [...columns, `${suffix} AS ${quoteName(TABLE_SUFFIX.name)}`].join(', ');
  const relation = `(SELECT ${all} FROM ${part.relation}${where})`;
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
