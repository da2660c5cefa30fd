import { isReserved } from '../googlesql/keywords';
import type { DescribedEndpoint } from './described';

type Tables = Pick<DescribedEndpoint, 'tables'>;

/** A query of the caller's own that works over every table; to be tried where the endpoint takes `sql`. */
export function sqlExample(endpoint: Tables): string {
  const table = shownTable(endpoint);
  const plain = isPlain(table) && !isReserved(table.toUpperCase());
  return `SELECT COUNT(*) AS count FROM ${plain ? table : `\`${table}\``}`;
}

/** The same in LQL; null where no table has a name that LQL can write. */
export function lqlExample(endpoint: Tables): string | null {
  const table = shownTable(endpoint);
  return isPlain(table) ? `f:${table}` : null;
}

/** The last one is mostly what the stored query selects from, and has the most to show; of logs, requests do. */
function shownTable({ tables }: Tables): string {
  return tables.find((name) => name === 'edge_logs') ?? tables.at(-1) ?? '';
}

function isPlain(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name);
}
