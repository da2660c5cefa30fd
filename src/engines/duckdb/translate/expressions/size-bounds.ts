/**
 * Bounds on what a query may make of little: DuckDB fills a generated array or a text in one go, without a look at the
 * deadline or at the memory it is allowed (one billion elements: 30 s and 8 GB after the interrupt).
 */
import { type Argument, type Call } from './call';
import { LIMITS } from './size-limits';
import { SMALL } from './size-estimate';

export function mostElements(call: Call): number {
  return call.once ? LIMITS.elements.once : LIMITS.elements.perRow;
}

export function mostFilled(call: Call): number {
  return call.once ? LIMITS.filled.once : LIMITS.filled.perRow;
}

export function mostJoined(call: Call): number {
  return call.once ? LIMITS.joined.once : LIMITS.joined.perRow;
}

/** `value` unless `over` holds, which fails. `value` is planned even then: its own arguments must be bounded too. */
export function unlessOver(call: Call, over: string, value: string): string {
  return `CASE WHEN ${over} THEN ${call.fail('size')} ELSE ${value} END`;
}

/** Bytes of a text or of BYTES. */
function bytesOf(x: string, { type }: Argument): string {
  return type.kind === 'BYTES' ? `octet_length(${x})` : `strlen(${x})`;
}

/** Texts joined; up to a bound where more than one of them may be of any size. */
export function joined(call: Call, print: (names: readonly string[]) => string): string {
  const all = call.args.map((a) => a.sql);
  const estimates = call.args.map((a) => call.estimate(a));
  if (estimates.reduce((sum, estimate) => sum + estimate, 0) - Math.max(...estimates) <= SMALL) return print(all);
  return call.bind(all, (...names) => {
    const size = call.args.flatMap((a, i) => (a.constant === null ? [`coalesce(${bytesOf(names[i]!, a)}, 0)`] : []));
    return size.length === 0
      ? print(names)
      : unlessOver(call, `${size.join(' + ')} > ${mostJoined(call)}`, print(names));
  });
}

/** A text of which more may be made, unless it is larger than `factor` times leaves room for. */
export function rewritten(
  call: Call,
  factor: (...names: string[]) => string,
  print: (...names: string[]) => string,
): string {
  const all = call.args.map((a) => a.sql);
  const [text] = call.args;
  if (text === undefined || call.args.reduce((sum, a) => sum + call.estimate(a), 0) <= SMALL) return print(...all);
  return call.bind(all, (...names) =>
    unlessOver(call, `${bytesOf(names[0]!, text)} * ${factor(...names)} > ${mostJoined(call)}`, print(...names)),
  );
}
