/** The wildcard tables that a query names, each as one table with the rows of those that it means. */
import { typeText, type NamedType } from '../googlesql/types';
import { NULL, scalarCell, type Cell } from '../googlesql/values';
import { invalidQuery } from '../query/error';
import { type Token } from '../sql/tokens';
import { type Table, type Warehouse } from './warehouse';

/** A column of wildcard tables that is no part of `*`. */
export const SUFFIX: NamedType = { name: '_TABLE_SUFFIX', type: { kind: 'STRING' } };

/**
 * @param home project of paths that name none
 * @param standard data set of those that name none either
 */
export function wildcardTables(
  tokens: readonly Token[],
  warehouse: Warehouse,
  home: string,
  standard: { readonly project: string; readonly dataset: string } | null,
): readonly Table[] {
  const found = new Map<string, Table>();
  tokens.forEach(({ kind, text }, i) => {
    if (kind !== 'quoted' || !text.endsWith('*`')) return;
    let path = text;
    for (let at = i; tokens[at - 1]?.text === '.'; at -= 2) path = `${tokens[at - 2]?.text ?? ''}.${path}`;
    const [id = '', ...data] = path.replaceAll('`', '').split('.').reverse();
    const [dataset = standard?.dataset ?? '', project = data.length === 0 ? (standard?.project ?? '') : home] = data;
    const all = [...(warehouse.dataset(project, dataset)?.tables.values() ?? [])];
    const meant = all.filter((table) => table.id.startsWith(id.slice(0, -1)));
    if (meant.length > 0) found.set(`${project}.${dataset}.${id}`, union(id, meant));
  });
  return [...found.values()];
}

/** The columns of the newest table, with the rows of all. */
function union(id: string, tables: readonly Table[]): Table {
  const newest = tables.reduce((a, b) => (b.created > a.created || (b.created === a.created && b.id > a.id) ? b : a));
  const bytes = newest.columns.map(() => 0);
  const rows = tables.flatMap((table) => {
    const places = newest.columns.map((column) => placeOf(column, table));
    for (const [i, place] of places.entries()) bytes[i]! += place === -1 ? 0 : (table.bytes[place] ?? 0);
    const suffix = scalarCell('STRING', table.id.slice(id.length - 1));
    return table.rows.map((row) => [...places.map((place, i) => row[place] ?? missing(newest.columns[i]!)), suffix]);
  });
  return { ...newest, id, columns: [...newest.columns, SUFFIX], rows, bytes: [...bytes, 0] };
}

/** -1: the table has no such column. @throws BigQueryError where it has another type */
function placeOf({ name, type }: NamedType, table: Table): number {
  const place = table.columns.findIndex((column) => column.name.toLowerCase() === name.toLowerCase());
  const found = table.columns[place];
  if (found !== undefined && typeText(found.type) !== typeText(type))
    throw invalidQuery(`Cannot read field of type ${typeText(found.type)} as ${typeText(type)} Field: ${name}`);
  return place;
}

function missing({ type }: NamedType): Cell {
  return type.kind === 'ARRAY' ? { array_value: { element: [] } } : NULL;
}
