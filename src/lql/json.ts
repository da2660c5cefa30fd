import { isoText } from '../time/calendar';
import type { Filter, Rules, Value } from './rules';

const EXACT = 2n ** 53n;

/**
 * Rules as a plain object for JSON: timestamps as ISO text in UTC, an INT64 beyond 2^53 as `{"int64":"..."}`, only the
 * modifiers that are set, and no positions.
 */
export function rulesToJson(rules: Rules): object {
  return {
    from: rules.from,
    select: rules.select.map(({ path, alias, wildcard }) => ({ path, alias, wildcard })),
    filters: rules.filters.map(filterToJson),
    chart: rules.chart && { aggregate: rules.chart.aggregate, path: rules.chart.path, period: rules.chart.period },
  };
}

function filterToJson(filter: Filter): object {
  const { path, operator, negate, quoted, origin, shorthand } = filter;
  return {
    path,
    operator,
    ...('values' in filter ? { values: filter.values.map(valueToJson) } : { value: valueToJson(filter.value) }),
    modifiers: { ...(negate && { negate }), ...(quoted && { quoted }), ...(origin !== null && { origin }) },
    ...(shorthand !== null && { shorthand }),
  };
}

function valueToJson(value: Value): unknown {
  if (typeof value === 'bigint') {
    return value >= -EXACT && value <= EXACT ? Number(value) : { int64: String(value) };
  }
  return typeof value === 'object' && value !== null ? isoText(value.micros) : value;
}
