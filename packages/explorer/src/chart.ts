import { computed, signal } from '@preact/signals';

import { type Chart, chartOf } from './chart-of';
import { isLog } from './log';
import { result } from './result';
import { rangeParameters } from './search';

/** Whether the chart is shown where there is one. */
export const chartShown = signal(true);

/** null: there is nothing to draw, or the rows are those of a log, which the histogram draws. */
export const chart = computed<Chart | null>(() => {
  const known = result.value;
  if (known === null || isLog.value || known.rows.length < 2) return null;
  return chartOf(known.types, known.rows, rangeParameters.peek() === null ? null : known.bounds);
});
