/** FORMAT with a literal format. */
import type { SqlType } from '../../../../googlesql/types';
import { type Argument, type Call } from './call';
import { mostJoined, unlessOver } from './size-bounds';
import { LIMITS } from './size-limits';
import { datetimeText, numericText, timeText, timestampText } from './value-texts';
import { QueryError } from '../../../../errors';
import { ownFunction } from '../functions/own-functions';
import { physicalFieldNames, quoteName, quoteText, typeName, structOf } from '../../sql';
import { SMALL } from './size-estimate';

const SPECIFIER = /%(?:%|([-+ #0']*)(\d+|\*)?(?:\.(\d+|\*))?([a-zA-Z]))|[^%]+|%/gs;

export function printFormat(call: Call): string {
  const [format, ...values] = call.args;
  if (format === undefined || format.constant === null)
    return call.unsupported('FORMAT with a format that is no literal');
  const { constant } = format;
  if (values.reduce((sum, value) => sum + call.estimate(value), 0) <= SMALL) return formatted(call, constant, values);
  // `%T` writes two characters for one where it escapes, and texts are joined: both could be done over and over.
  return call.bind(
    values.map(({ sql }) => sql),
    (...names) => {
      const sizes = names.map((name) => `coalesce(strlen(CAST(${name} AS VARCHAR)), 0)`);
      const named = values.map((value, i) => ({ ...value, sql: names[i]! }));
      return unlessOver(call, `${sizes.join(' + ')} > ${mostJoined(call) / 2}`, formatted(call, constant, named));
    },
  );
}

function formatted(call: Call, format: string, values: readonly Argument[]): string {
  let next = 0;
  const pieces: string[] = [];
  for (const match of format.matchAll(SPECIFIER)) {
    const [text, flags = '', width, precision, letter] = match;
    if (!text.startsWith('%')) pieces.push(quoteText(text));
    else if (text === '%%') pieces.push("'%'");
    else if (letter === undefined || width === '*' || precision === '*')
      return call.unsupported(`The format specifier ${text}`);
    else {
      const value = values[next++];
      if (value === undefined) throw wrongCount(call, format, values.length);
      checkType(value, letter, next);
      pieces.push(
        one(call, value, {
          flags,
          width: Number(width ?? 0),
          precision: precision === undefined ? null : Number(precision),
          letter,
        }),
      );
    }
  }
  if (next !== values.length) throw wrongCount(call, format, values.length);
  return pieces.length === 0 ? "''" : `(${pieces.join(' || ')})`;
}

function wrongCount({ span }: Call, format: string, count: number): QueryError {
  const wanted = [...format.matchAll(SPECIFIER)].filter(
    ([text, , , , letter]) => text !== '%%' && letter !== undefined,
  ).length;
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
  const taken = TAKEN.find(([letters]) => letters.includes(letter));
  if (taken === undefined || taken[1].includes(type.kind)) return;
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
  if (Math.max(width, precision ?? 0) > LIMITS.places) return call.fail('size');
  switch (letter) {
    case 'd':
    case 'i':
    case 'x':
    case 'X':
    case 'o':
      if (flags.includes("'")) {
        if (!/^[di]$/.test(letter) || /[+ #]/.test(flags) || precision !== null)
          return call.unsupported(`The format flag ' in ${flags}${letter}`);
        const grouped = `format('{:,}', ${value.sql})`;
        // Noughts go between the sign and the digits, and are not grouped.
        if (flags.includes('0') && !flags.includes('-') && width > 0)
          return call.bind(
            [grouped],
            (t) =>
              `CASE WHEN length(${t}) >= ${width} THEN ${t} WHEN ${t}[1] = '-' THEN '-' || lpad(${t}[2:], ${width - 1}, '0') ELSE lpad(${t}, ${width}, '0') END`,
          );
        return padded(call, grouped, flags, width);
      }
      if (letter === 'd' || letter === 'i') return printf(value.sql, specifier, 'd');
      // Other bases have a sign, no two's complement.
      return call.bind(
        [value.sql],
        (n) =>
          `CASE WHEN ${n} < 0 THEN ${padded(call, `'-' || ${printf(`abs(${n})`, { ...specifier, width: 0 }, letter)}`, flags, width)} ` +
          `ELSE ${printf(n, specifier, letter)} END`,
      );
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G': {
      if (flags.includes("'")) return call.unsupported("The format flag ' for numbers with a point");
      return printf(value.type.kind === 'FLOAT64' ? value.sql : `CAST(${value.sql} AS DOUBLE)`, specifier, letter);
    }
    case 's': {
      const text = precision === null ? value.sql : `left(${value.sql}, ${precision})`;
      return padded(call, text, flags, width);
    }
    case 'p':
      return padded(call, `CAST(${value.sql} AS VARCHAR)`, flags, width);
    case 't':
    case 'T': {
      const text = call.bind([structOf([['x', value.sql]])], (row) =>
        printed(call, `${row}."x"`, value.type, letter === 'T'),
      );
      return padded(call, precision === null ? text : `left(${text}, ${precision})`, flags, width);
    }
    default:
      return call.unsupported(`The format specifier %${letter}`);
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
function printed(call: Call, x: string, type: SqlType, literal: boolean): string {
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
      return quoted(type.kind, numericText(x));
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
      return literal ? call.unsupported('The format specifier %T for JSON') : `CAST(${x} AS VARCHAR)`;
    case 'ARRAY': {
      const list = `list_transform(${x}, lambda e: ${printed(call, 'e', type.element, literal)})`;
      return `('[' || array_to_string(${list}, ', ') || ']')`;
    }
    case 'STRUCT': {
      const names = physicalFieldNames(type.fields);
      const fields = type.fields.map((f, i) => printed(call, `${x}.${quoteName(names[i]!)}`, f.type, literal));
      return `CASE WHEN ${x} IS NOT NULL THEN '(' || ${fields.join(` || ', ' || `)} || ')' END`;
    }
    case 'BYTES':
      return ownFunction(call, 'lq_bytes_text', [{ sql: x, sized: 'bytes' }, { sql: String(literal) }], { text: true });
    case 'INTERVAL':
    case 'GEOGRAPHY':
      return call.unsupported(`FORMAT of ${type.kind}`);
  }
}
