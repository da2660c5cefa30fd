/** What to write instead of a function that the embedded engine does not have, by its name. */
const DISTINCT = 'COUNT(DISTINCT x) or APPROX_COUNT_DISTINCT(x), which is exact here, over the rows themselves';

export const WORKAROUNDS: ReadonlyMap<string, string> = new Map([
  ['COLLATE', 'LOWER(x) on both sides of a comparison, or as the key of ORDER BY'],
  ['HLL_COUNT.EXTRACT', DISTINCT],
  ['HLL_COUNT.INIT', DISTINCT],
  ['HLL_COUNT.MERGE', DISTINCT],
  ['HLL_COUNT.MERGE_PARTIAL', DISTINCT],
]);
