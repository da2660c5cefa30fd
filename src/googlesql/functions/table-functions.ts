import type { Identifier } from '../syntax';

const HINTS: Readonly<Record<string, string>> = {
  RANGE_SESSIONIZE:
    'Number the sessions by windows: COUNTIF(RANGE_START(r) > last_end) OVER (PARTITION BY k ORDER BY RANGE_START(r)) AS session, ' +
    'where last_end is the greatest RANGE_END of the rows before; then GROUP BY k, session.',
};

/** What to write instead of a table function of GoogleSQL; undefined: nothing that would do. */
export function insteadOfTableFunction(path: readonly Identifier[]): string | undefined {
  const name = path
    .map((part) => part.name)
    .join('.')
    .toUpperCase();
  return Object.hasOwn(HINTS, name) ? HINTS[name] : undefined;
}
