/** PARSE_DATE, PARSE_DATETIME, PARSE_TIME and PARSE_TIMESTAMP: a format takes a text apart element by element, from the left. */
import type { ChunkBudget } from './chunk-budget';
import { scalarFunction } from './scalar-function';
import { CompiledFormats, elementStarts, isLacking, LACKING, type TimeKind } from './time-elements';
import { stepsOf, type Step } from './time-steps';
import { TimeReading } from './time-fields';

const formats = new CompiledFormats(compiled);
/** Units of the budget for a text, for each element of a format, and for each character of the text. */
const FOR_TEXT = 1_500;
const FOR_STEP = 60;
const FOR_CHARACTER = 8;

function compiled(format: string, kind: TimeKind): readonly Step[] | null {
  return elementStarts(withoutNul(format)).some(({ rest }) => isLacking(rest, LACKING[kind]))
    ? null
    : stepsOf(withoutNul(format));
}

/** Null where the text is not of the format. */
function read(text: string, steps: readonly Step[], budget: ChunkBudget): TimeReading | null {
  const reading = new TimeReading(text, budget);
  reading.skipSpace();
  let next = 0;
  for (; next < steps.length && !reading.isAtEnd; next++) if (!steps[next]!.take(reading)) return null;
  reading.skipSpace();
  return reading.isAtEnd && steps.slice(next).every(({ isBlank }) => isBlank) ? reading : null;
}

/** Microseconds since 1970 of what the text says, and its zone: `=` for UTC, nothing where it says none. */
function written(reading: TimeReading): string | null {
  if (reading.epoch !== null) return `${reading.epoch * 1_000_000n} =`;
  const date = reading.date.resolved();
  const micros = date === null ? null : reading.microsOn(date);
  if (micros === null) return null;
  if (reading.offset !== null) return `${micros - BigInt(reading.offset) * 60_000_000n} =`;
  return `${micros} ${reading.zone}`;
}

/**
 * The time that a text holds by a format, empty where it holds none.
 *
 * @param kind its place in TIME_KINDS
 */
export const parseTime = scalarFunction(['text', 'text', 'integer'], 'text', (format, text, kind, budget) => {
  const steps = formats.get(format, kind, budget);
  if (
    steps === null ||
    steps === undefined ||
    !budget.spend(FOR_TEXT + steps.length * FOR_STEP + text.length * FOR_CHARACTER)
  )
    return null;
  const reading = read(withoutNul(text), steps, budget);
  return reading === null ? null : written(reading);
});

function withoutNul(text: string): string {
  return text.endsWith('\0') ? text.slice(0, -1) : text;
}
