/** Sums of FLOAT64, which DuckDB lets become infinite on the way. */
import type { Bind } from '../expressions/call';

const FACTOR = '18446744073709551616e0';

/** So much less that no sum of finite numbers is beyond FLOAT64; what it loses is nothing to a sum that large. */
export function scaledDown(x: string): string {
  return `${x} / ${FACTOR}`;
}

/** `total`, or from the scaled one where that is infinite of finite numbers: `failing` where it does lie beyond FLOAT64. Both are names. */
export function rescaled(total: string, scaled: string, failing: string): string {
  return `CASE WHEN isfinite(${total}) THEN ${total} WHEN isfinite(${scaled}) AND isinf(${scaled} * ${FACTOR}) THEN ${failing} ELSE ${scaled} * ${FACTOR} END`;
}

export function sumOfFloatList(bind: Bind, list: string, failing: string): string {
  return bind([list], (l) =>
    bind([`list_sum(${l})`, `list_sum(list_transform(${l}, lambda x: ${scaledDown('x')}))`], (sum, scaled) =>
      rescaled(sum, scaled, failing),
    ),
  );
}
