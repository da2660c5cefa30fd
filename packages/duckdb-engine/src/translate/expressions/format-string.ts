/** FORMAT with a literal pattern. What printf of DuckDB does not write is refused by name. */
import { type SqlType, QueryError } from '@logquay/googlesql/types';
import { type Argument, type Call } from './call';
import { LIMITS, unlessOver } from './makers';
import { datetimeText, numericText, timeText, timestampText } from './casts';
import type { Span } from '@logquay/googlesql/syntax';
import { physicalFieldNames, quoteName, quoteText, typeName, structOf } from '../../sql';

const SPECIFIER = /%(?:%|([-+ #0']*)(\d+|\*)?(?:\.(\d*|\*))?([a-zA-Z]))|[^%]+|%/gs;

export function printFormat(call: Call): string {
  const [format, ...values] = call.args;
  if (format === undefined) throw new Error('FORMAT without a format');
  if (format.constant === null && format.expr.kind === 'literal') return 'CAST(NULL AS VARCHAR)';
  if (format.constant === null) return call.unsupported('FORMAT with a pattern that is no literal');
  const pattern = format.constant;
  checkLiteral(call, pattern, values);
  if (isTooWide(pattern)) return `CAST(${call.fail('size')} AS VARCHAR)`;
  checkPlain(call, pattern, values);
  if (!call.isLarge || values.length === 0) return formatted(call, pattern, values);
  // `%T` writes two characters for one where it escapes, and texts are joined: both could be done over and over.
  return call.bind(
    values.map(({ sql }) => sql),
    (...names) => {
      const sizes = names.map((name) => `coalesce(strlen(CAST(${name} AS VARCHAR)), 0)`);
      const named = values.map((value, i) => ({ ...value, sql: names[i]! }));
      return unlessOver(call, `${sizes.join(' + ')} > ${LIMITS.made / 2}`, formatted(call, pattern, named));
    },
  );
}

/** Whether a field of a literal is to have more characters than it may. */
function isTooWide(format: string): boolean {
  return [...format.matchAll(SPECIFIER)].some(([, , ...sizes]) =>
    sizes.slice(0, 2).some((size) => Number(size) > LIMITS.places),
  );
}

/** Places behind the point, and numbers, up to which printf of DuckDB has the right digits. */
const EXACT_PLACES = 15;
const EXACT_NUMBER = '1e15';
/** Has no absolute value. */
const LEAST = { n: '-9223372036854775808', x: '-8000000000000000', o: '-1000000000000000000000' };

/** @throws QueryError, by name, for a specifier that printf of DuckDB does not print as GoogleSQL does, or that takes a width */
function checkPlain(call: Call, format: string, values: readonly Argument[]): void {
  let next = 0;
  for (const [text, flags = '', width, precision, letter = ''] of format.matchAll(SPECIFIER)) {
    if (!text.startsWith('%') || text === '%%') continue;
    const counts = [width, precision].filter((count) => count === '*').length;
    if (counts > 0 || !isPlain(flags, precision, letter)) call.unsupported(`FORMAT with ${JSON.stringify(text)}`);
    const kind = values[next++]?.type.kind;
    // NUMERIC has more digits than printf.
    if (kind === 'NUMERIC' && !'tT'.includes(letter))
      call.unsupported(`FORMAT of NUMERIC with ${JSON.stringify(text)}`, 'CAST(x AS FLOAT64)');
  }
}

function isPlain(flags: string, precision: string | undefined, letter: string): boolean {
  if ('stT'.includes(letter)) return true;
  if (/[#']/.test(flags)) return false;
  if ('xXo'.includes(letter)) return flags === '' && precision === undefined;
  if ('di'.includes(letter)) return precision === undefined;
  const places = precision === undefined ? 6 : Number(precision);
  const isExact = places <= EXACT_PLACES && !(places === 0 && 'gG'.includes(letter));
  return 'fFeEgG'.includes(letter) && isExact;
}

/** @throws QueryError for a literal format that its arguments do not fit */
function checkLiteral(call: Call, format: string, values: readonly Argument[]): void {
  let next = 0;
  for (const [text, , width, precision, letter] of format.matchAll(SPECIFIER)) {
    if (!text.startsWith('%') || text === '%%') continue;
    if (letter === undefined)
      throw new QueryError('invalidQuery', `Invalid FORMAT string: ${JSON.stringify(format)}`, placeOf(call));
    const counts = [width, precision].filter((count) => count === '*').length;
    const taken = [...Array.from({ length: counts }, () => 'd'), letter];
    for (const each of taken) {
      const value = values[next++];
      if (value === undefined) throw wrongCount(call, format, values.length);
      checkType(value, each, next);
    }
  }
  if (next !== values.length) throw wrongCount(call, format, values.length);
}

function jsonText(x: string): string {
  return `lq_json_text(json(${x}))`;
}

function formatted(call: Call, format: string, values: readonly Argument[]): string {
  const left = values.values();
  const pieces = [...format.matchAll(SPECIFIER)].map(([text, flags = '', width, precision, letter = '']) => {
    if (!text.startsWith('%')) return quoteText(text);
    if (text === '%%') return "'%'";
    const specifier = {
      flags,
      width: Number(width ?? 0),
      precision: precision === undefined ? null : Number(precision),
      letter,
    };
    return one(call, left.next().value!, specifier);
  });
  return pieces.length === 0 ? "''" : `(${pieces.join(' || ')})`;
}

function placeOf({ args: [first], span }: Call): Span {
  return first?.expr.span ?? span;
}

function wrongCount({ span }: Call, format: string, count: number): QueryError {
  const wanted = [...format.matchAll(SPECIFIER)].reduce(
    (sum, [text, , width, precision, letter]) =>
      text === '%%' || letter === undefined ? sum : sum + 1 + [width, precision].filter((part) => part === '*').length,
    0,
  );
  const words = `Too ${count > wanted ? 'many' : 'few'} arguments to FORMAT for pattern ${JSON.stringify(format)}; Expected ${wanted + 1}; Got ${count + 1}`;
  return new QueryError('invalidQuery', words, span);
}

const TAKEN: readonly (readonly [letters: string, kinds: readonly SqlType['kind'][], words: string])[] = [
  ['dixXo', ['INT64'], 'integer'],
  ['fFeEgG', ['FLOAT64', 'NUMERIC', 'BIGNUMERIC'], 'FLOAT64'],
  ['s', ['STRING'], 'STRING'],
  ['pP', ['JSON'], 'PROTO or JSON'],
];

/** @throws QueryError for an argument of a type that its specifier does not take */
function checkType({ type, expr }: Argument, letter: string, place: number): void {
  if ('tT'.includes(letter)) return;
  const taken = TAKEN.find(([letters]) => letters.includes(letter));
  if (taken === undefined)
    throw new QueryError('invalidQuery', `Invalid format specifier character "${letter}" in FORMAT string`, expr.span);
  if (taken[1].includes(type.kind)) return;
  const words = `Invalid type for argument ${place + 1} to FORMAT; Expected ${taken[2]}; Got ${typeName(type)}`;
  throw new QueryError('invalidQuery', words, expr.span);
}

interface Specifier {
  readonly flags: string;
  readonly width: number;
  readonly precision: number | null;
  readonly letter: string;
}

function one(call: Call, value: Argument, specifier: Specifier): string {
  const { flags, width, precision, letter } = specifier;
  switch (letter) {
    case 'd':
    case 'i':
      return printf(value.sql, specifier, 'd');
    case 'x':
    case 'X':
    case 'o':
      // A sign, no two's complement.
      return call.bind(
        [value.sql],
        (n) =>
          `CASE WHEN ${n} = ${LEAST.n} THEN ${padded(call, quoteText(letter === 'o' ? LEAST.o : LEAST.x), flags, width)} WHEN ${n} < 0 THEN ${padded(call, `'-' || ${printf(`abs(${n})`, { ...specifier, width: 0 }, letter)}`, flags, width)} ` +
          `ELSE ${printf(n, specifier, letter)} END`,
      );
    case 'f':
    case 'F':
      return float(call, value, specifier, (x, text) => {
        const exactly = large(call, x, specifier);
        return `CASE WHEN abs(${x}) < ${EXACT_NUMBER} THEN ${text} ELSE ${exactly} END`;
      });
    case 'e':
    case 'E':
    case 'g':
    case 'G':
      return float(call, value, specifier, (_, text) => text);
    case 's': {
      const text = precision === null ? value.sql : `left(${value.sql}, ${precision})`;
      return padded(call, text, flags, width);
    }
    case 't':
    case 'T': {
      const text = call.bind([structOf([['x', value.sql]])], (row) =>
        shown(call, `${row}."x"`, value.type, letter === 'T'),
      );
      return padded(call, precision === null ? text : `left(${text}, ${precision})`, flags, width);
    }
    default:
      throw new Error(`%${letter} is not printed by SQL`);
  }
}

function printf(sql: string, { flags, width, precision }: Specifier, letter: string): string {
  const shown = flags.includes('-') ? flags.replaceAll('0', '') : flags;
  const form = `%${shown}${width === 0 ? '' : width}${precision === null ? '' : `.${precision}`}${letter}`;
  // printf of a NULL prints one.
  return `CASE WHEN ${sql} IS NOT NULL THEN printf(${quoteText(form)}, ${sql}) END`;
}

/** @param finite prints a number that has the name `x`, from what printf makes of it; what is no number has no zeros before it */
function float(
  call: Call,
  { sql }: Argument,
  specifier: Specifier,
  finite: (x: string, text: string) => string,
): string {
  // No nought is negative.
  return call.bind([`(${sql} + 0)`], (x) => {
    const wild = printf(x, { ...specifier, flags: specifier.flags.replaceAll('0', '') }, specifier.letter);
    return `CASE WHEN isfinite(${x}) THEN ${finite(x, printf(x, specifier, specifier.letter))} ELSE ${wild} END`;
  });
}

/** A FLOAT64 from `EXACT_NUMBER` on: its whole part in all its digits, and its fraction for itself. */
function large(call: Call, x: string, { flags, width, precision }: Specifier): string {
  const places = precision ?? 6;
  const whole = places === 0 ? `round_even(abs(${x}), 0)` : `trunc(abs(${x}))`;
  const sign = flags.includes('+') ? "'+'" : flags.includes(' ') ? "' '" : "''";
  const fraction = places === 0 ? "''" : `substr(printf('%.${places}f', abs(${x}) - trunc(abs(${x}))), 2)`;
  const digits = `(split_part(printf('%.40f', ${whole}), '.', 1) || ${fraction})`;
  const signed = (text: string): string => `(CASE WHEN ${x} < 0 THEN '-' ELSE ${sign} END || ${text})`;
  if (!flags.includes('0') || flags.includes('-')) return padded(call, signed(digits), flags, width);
  return call.bind(
    [digits, signed("''")],
    (d, s) => `(${s} || repeat('0', greatest(${width} - length(${s}) - length(${d}), 0)) || ${d})`,
  );
}

function padded(call: Call, text: string, flags: string, width: number): string {
  if (width === 0) return text;
  const pad = flags.includes('-') ? 'rpad' : 'lpad';
  return call.bind([text], (t) => `CASE WHEN length(${t}) < ${width} THEN ${pad}(${t}, ${width}, ' ') ELSE ${t} END`);
}

/** `%t` prints a value, `%T` a literal of it. NULL is NULL in both. */
function shown(call: Call, x: string, type: SqlType, literal: boolean): string {
  return `coalesce(${present(call, x, type, literal)}, 'NULL')`;
}

function present(call: Call, x: string, type: SqlType, literal: boolean): string {
  const quoted = (prefix: string, text: string): string => (literal ? `('${prefix} "' || ${text} || '"')` : text);
  switch (type.kind) {
    case 'BOOL':
    case 'INT64':
      return `CAST(${x} AS VARCHAR)`;
    case 'FLOAT64': {
      const text = `CASE WHEN regexp_full_match(lq_float_text(${x}), '-?\\d+') THEN lq_float_text(${x}) || '.0' ELSE lq_float_text(${x}) END`;
      return literal
        ? `CASE WHEN isfinite(${x}) THEN ${text} ELSE 'CAST("' || lq_float_text(${x}) || '" AS FLOAT64)' END`
        : text;
    }
    case 'NUMERIC':
      return quoted(type.kind, numericText(x, type.kind));
    case 'STRING':
      return literal ? `lq_string_literal(${x})` : x;
    case 'DATE':
      return quoted('DATE', `CAST(${x} AS VARCHAR)`);
    case 'TIME':
      return quoted('TIME', timeText(x));
    case 'DATETIME':
      return quoted('DATETIME', datetimeText(x, ' '));
    case 'TIMESTAMP':
      return quoted(
        'TIMESTAMP',
        timestampText((v, body) => call.bind(v, body), x, null),
      );
    case 'JSON':
      return literal ? `('JSON ' || lq_string_literal(${jsonText(x)}))` : jsonText(x);
    case 'ARRAY': {
      const list = `list_transform(${x}, lambda e: ${shown(call, 'e', type.element, literal)})`;
      return `('[' || array_to_string(${list}, ', ') || ']')`;
    }
    case 'STRUCT': {
      const names = physicalFieldNames(type.fields);
      const fields = type.fields.map((f, i) => shown(call, `${x}.${quoteName(names[i]!)}`, f.type, literal));
      return `CASE WHEN ${x} IS NOT NULL THEN '(' || ${fields.join(` || ', ' || `)} || ')' END`;
    }
    case 'INTERVAL': {
      const text = `lq_interval_text(${x})`;
      return literal ? `('INTERVAL "' || ${text} || '" YEAR TO SECOND')` : text;
    }
    case 'BIGNUMERIC':
    case 'BYTES':
    case 'GEOGRAPHY':
    case 'RANGE':
      return call.unsupported(`FORMAT of ${type.kind}`);
  }
}
