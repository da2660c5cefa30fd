/** FORMAT with a literal format. */
import type { SqlType } from '../../../../googlesql/types';
import { type Argument, type Call } from './call';
import { LIMITS, unlessOver } from './makers';
import { datetimeText, numericText, timeText, timestampText } from './value-texts';
import { QueryError } from '../../../../errors';
import { ownFunction } from '../functions/own-functions';
import { physicalFieldNames, quoteName, quoteText, typeName, structOf } from '../../sql';
import { type ArgumentLetter, takesArguments } from '../../scalar-functions/text-format';

const SPECIFIER = /%(?:%|([-+ #0']*)(\d+|\*)?(?:\.(\d+|\*))?([a-zA-Z]))|[^%]+|%/gs;

export function printFormat(call: Call): string {
  const [format, ...values] = call.args;
  if (format === undefined) throw new Error('FORMAT without a format');
  if (!call.isLarge) return printed(call, format, values);
  // `%T` writes two characters for one where it escapes, and texts are joined: both could be done over and over.
  return call.bind(
    call.args.map(({ sql }) => sql),
    (first, ...names) => {
      const sizes = names.map((name) => `coalesce(strlen(CAST(${name} AS VARCHAR)), 0)`);
      const named = values.map((value, i) => ({ ...value, sql: names[i]! }));
      const sized = format.constant === null ? [...sizes, `coalesce(strlen(${first}), 0)`] : sizes;
      const text = printed(call, format.constant === null ? { ...format, sql: first } : format, named);
      return sized.length === 0 ? text : unlessOver(call, `${sized.join(' + ')} > ${LIMITS.made / 2}`, text);
    },
  );
}

/** By SQL where the format is a literal that printf of DuckDB knows, else by our own function. */
function printed(call: Call, format: Argument, values: readonly Argument[]): string {
  if (format.constant !== null) checkLiteral(call, format.constant, values);
  if (format.constant !== null && isTooWide(format.constant)) return `CAST(${call.fail('size')} AS VARCHAR)`;
  return format.constant !== null && isPlain(format.constant, values)
    ? formatted(call, format.constant, values)
    : formattedByFunction(call, format, values);
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

function isDecimal({ kind }: SqlType): boolean {
  return kind === 'NUMERIC' || kind === 'BIGNUMERIC';
}

/** Numbers without a `'`; a NUMERIC has more digits than printf. */
function isPlain(format: string, values: readonly Argument[]): boolean {
  const hasDecimals = values.some(({ type }) => isDecimal(type));
  return [...format.matchAll(SPECIFIER)].every(([text, flags = '', width, precision, letter]) => {
    if (!text.startsWith('%') || text === '%%') return true;
    if (letter === undefined || width === '*' || precision === '*') return false;
    if ('stT'.includes(letter)) return true;
    if (/[#']/.test(flags) || (flags.includes('0') && precision !== undefined)) return false;
    if ('xXo'.includes(letter)) return flags === '' && precision === undefined;
    if ('di'.includes(letter)) return precision === undefined;
    const isExact = Number(precision ?? 6) <= EXACT_PLACES && !(precision === '0' && 'gG'.includes(letter));
    return 'fFeEgG'.includes(letter) && isExact && !hasDecimals && !flags.includes('0');
  });
}

/** @throws QueryError for a literal format that its arguments do not fit */
function checkLiteral(call: Call, format: string, values: readonly Argument[]): void {
  let next = 0;
  for (const [text, , width, precision, letter] of format.matchAll(SPECIFIER)) {
    if (!text.startsWith('%') || text === '%%') continue;
    if (letter === undefined) return checkWhole(call, format, values);
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

/** Arguments as our own function takes them: what each is, its value, and how `%t` and `%T` print it. */
function formattedByFunction(call: Call, format: Argument, values: readonly Argument[]): string {
  if (values.length === 0) return called(call, format, `'[]'`);
  return call.bind([structOf(values.map(({ sql }, i) => [`x${i}`, sql]))], (row) => {
    const args = values.map((value, i) => {
      const { type } = value;
      const x = `${row}."x${i}"`;
      const text =
        type.kind === 'JSON' ? jsonText(x) : isDecimal(type) ? numericText(x, type.kind) : `CAST(${x} AS VARCHAR)`;
      return `[${quoteText(letterOf(value))}, ${isText(type) ? text : 'NULL'}, ${shown(call, x, type, false)}, ${shown(call, x, type, true)}]`;
    });
    return called(call, format, `CAST(to_json([${args.join(', ')}]) AS VARCHAR)`);
  });
}

function called(call: Call, format: Argument, args: string): string {
  const given = [
    { sql: format.sql, sized: 'text' as const },
    { sql: args, sized: 'text' as const },
  ];
  return call.bind(
    [ownFunction(call, 'lq_format', given, { text: true, empty: 'argument' })],
    (text) => `CASE WHEN ${text}[1] = '=' THEN substr(${text}, 2) END`,
  );
}

const LETTERS: Readonly<Partial<Record<SqlType['kind'], ArgumentLetter>>> = {
  INT64: 'i',
  FLOAT64: 'f',
  NUMERIC: 'n',
  BIGNUMERIC: 'n',
  STRING: 's',
  JSON: 'j',
};

/** Whether a specifier other than `%t` and `%T` takes it. */
function isText({ kind }: SqlType): boolean {
  return LETTERS[kind] !== undefined;
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

/** What is no specifier, or one that few write. */
function checkWhole({ args: [first], span }: Call, format: string, values: readonly Argument[]): void {
  if (takesArguments(format, values.map(letterOf))) return;
  throw new QueryError('invalidQuery', `Invalid FORMAT string: ${JSON.stringify(format)}`, first?.expr.span ?? span);
}

function letterOf({ type: { kind } }: Argument): ArgumentLetter {
  return LETTERS[kind] ?? 'o';
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
    case 'F': {
      const format = `%${flags}${width === 0 ? '' : width}.${precision ?? 6}${letter}`;
      const expr = { kind: 'literal', value: format, type: call.type, span: call.span } as const;
      return call.bind([value.sql], (x) => {
        const exactly = formattedByFunction(call, { sql: quoteText(format), type: call.type, expr, constant: format }, [
          { ...value, sql: x },
        ]);
        return `CASE WHEN abs(${x}) < ${EXACT_NUMBER} THEN ${printf(`(${x} + 0)`, specifier, letter)} ELSE ${exactly} END`;
      });
    }
    case 'e':
    case 'E':
    case 'g':
    case 'G':
      // No nought is negative.
      return printf(`(${value.sql} + 0)`, specifier, letter);
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
  const form = `%${flags}${width === 0 ? '' : width}${precision === null ? '' : `.${precision}`}${letter}`;
  // printf of a NULL prints one.
  return `CASE WHEN ${sql} IS NOT NULL THEN printf(${quoteText(form)}, ${sql}) END`;
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
    case 'BIGNUMERIC':
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
    case 'BYTES':
      return ownFunction(call, 'lq_bytes_text', [{ sql: x, sized: 'bytes' }, { sql: String(literal) }], { text: true });
    case 'GEOGRAPHY':
      return call.unsupported(`FORMAT of ${type.kind}`);
    case 'RANGE':
      return call.unsupported('FORMAT of RANGE', 'CAST(x AS STRING)');
  }
}
