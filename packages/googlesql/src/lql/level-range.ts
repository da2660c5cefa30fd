/** `level:error..emergency`: of which fields levels have an order. */
import { pathText, segmentsOf } from '../field-path';
import { LEVELS, type Roles, severityAt, type SeverityRole } from '../roles';
import type { NamedType } from '../types';
import { LqlError } from './lql-error';
import type { Filter, Rules } from './rules';

/** Levels as the logs of Supabase have them, whether columns are known or not. */
const SUPPOSED = 'metadata.level';

/** How the field of a range of levels writes them; null: it holds none that are known. */
export function severityFor({ path }: Filter, columns: readonly NamedType[], { severity }: Roles): SeverityRole | null {
  const segments = segmentsOf(path) ?? [];
  const folded = (names: readonly string[]): string => pathText(names).toLowerCase();
  if (severity !== null && folded(severity.path) === folded(segments)) return severity;
  return severityAt(columns, segments);
}

/**
 * Checks that ranges of levels are of fields that hold levels.
 *
 * @param columns null: not known
 * @throws LqlError bad_value
 */
export function checkLevelRanges({ filters }: Rules, columns: readonly NamedType[] | null, roles: Roles | null): void {
  for (const filter of filters) {
    if (filter.operator !== 'in') continue;
    const { path, pathSpan, span } = filter;
    const known = columns === null || roles === null ? path === SUPPOSED : severityFor(filter, columns, roles) !== null;
    if (known) continue;
    const field = roles?.severity === null || roles === null ? 'm.level' : pathText(roles.severity.path);
    throw new LqlError(
      'bad_value',
      `${path} holds no levels that have an order`,
      { ...span, start: pathSpan.end + 1 },
      {
        hint: `The levels of a range are, by gravity, ${LEVELS.join(', ')}: ${field}:error..emergency.`,
        allowed: LEVELS,
      },
    );
  }
}
