import { type TableRead } from '../googlesql/tree';
import { byteOffsets, type Edit } from './edits';

/**
 * The engine finds rows only for tables at the top of a catalogue, so for evaluation every path to a table becomes one
 * back-quoted name, `` `project.dataset.table` ``, with the alias that the path stood for.
 */
export function tableEdits(sql: string, reads: readonly TableRead[]): Edit[] {
  const offset = byteOffsets(sql);
  const seen = new Set<number>();
  const edits: Edit[] = [];
  for (const read of reads) {
    if (read.range === null || seen.has(read.range.start)) continue;
    seen.add(read.range.start);
    const alias = read.alias === '' ? ` AS \`${read.table.slice(read.table.lastIndexOf('.') + 1)}\`` : '';
    edits.push({ start: offset(read.range.start), end: offset(read.range.end), text: `\`${read.table}\`${alias}` });
  }
  return edits;
}
