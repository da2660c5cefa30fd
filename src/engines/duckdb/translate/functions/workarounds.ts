/** What to write instead of a function that the embedded engine does not have, by its name. */
export const WORKAROUNDS: ReadonlyMap<string, string> = new Map([
  ['COLLATE', 'LOWER(x) on both sides of a comparison, or as the key of ORDER BY'],
]);
