import { describeLookback } from '../endpoints/parameters';
import { MOST_VALUES } from '../endpoints/values';
import type { DescribedParameter } from './described';
import type { Json, Schema } from './schema';

/** Longest value of a declared parameter and of `sql` or `lql`: in bytes, and so never more characters (docs/querying.md). */
const LONGEST_VALUE = 4096;
const LONGEST_TEXT = 65_536;

/** By their form; whether such a day exists, the service judges. */
const DATE = '\\d{4}-\\d{2}-\\d{2}';
const DATE_FORM = `^${DATE}$`;
const INSTANT_FORM = `^${DATE}(?:[Tt ]\\d{2}:\\d{2}(?::\\d{2}(?:[.,]\\d{1,6})?)?(?:[Zz]|[+\\- ]\\d{2}(?::?\\d{2})?)?)?$`;
const INTEGER_FORM = '^-?\\d+$';
const NUMBER_FORM = '^[+-]?(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:[eE][+-]?\\d+)?$';

/** What a value is in the URL or a form. */
export function urlSchema(parameter: DescribedParameter): Schema {
  if (!parameter.list) return { ...valueSchema(parameter), ...defaultOf(parameter) };
  return {
    type: 'array',
    items: valueSchema(parameter),
    ...(isRequired(parameter) ? { minItems: 1 } : {}),
    maxItems: MOST_VALUES,
    ...defaultOf(parameter),
  };
}

/** What one value is. */
function valueSchema({ type, values, minimum, maximum, fixed }: DescribedParameter): Schema {
  // The values that an enum allows are other tenants' names for all one knows: a fixed parameter tells none of them.
  if (fixed) return { type: 'string', maxLength: LONGEST_VALUE };
  const bounds = { ...(minimum === null ? {} : { minimum }), ...(maximum === null ? {} : { maximum }) };
  switch (type) {
    case 'string':
    case 'regex':
      return { type: 'string', maxLength: LONGEST_VALUE };
    case 'enum':
      return { type: 'string', enum: values ?? [] };
    case 'timestamp':
      return { type: 'string', pattern: INSTANT_FORM };
    case 'date':
      return { type: 'string', format: 'date', pattern: DATE_FORM };
    case 'integer':
      return { type: 'integer', format: 'int64', ...bounds };
    case 'number':
      return { type: 'number', format: 'double', ...bounds };
    case 'boolean':
      return { type: 'boolean' };
  }
}

/** What a value is in a JSON body: as in the URL, or as a string that reads like it; where it may be absent, null too. */
export function jsonSchema(parameter: DescribedParameter): Schema {
  const schema = urlSchema(parameter);
  const values = [...(parameter.list ? [valueSchema(parameter)] : [schema]), ...textForms(parameter)];
  const lists = parameter.list ? [{ ...schema, items: oneOf(values) }] : [];
  return oneOf([...lists, ...values, ...(isRequired(parameter) ? [] : [{ type: 'null' }, EMPTY])]);
}

function oneOf(forms: readonly Schema[]): Schema {
  const [first] = forms;
  return first !== undefined && forms.length === 1 ? first : { anyOf: forms };
}

const EMPTY: Schema = { type: 'string', const: '' };

function textForms({ type, fixed }: DescribedParameter): Schema[] {
  if (fixed) return [];
  if (type === 'integer') return [{ type: 'string', pattern: INTEGER_FORM }];
  if (type === 'number') return [{ type: 'string', pattern: NUMBER_FORM }];
  return type === 'boolean' ? [{ type: 'string', enum: ['true', 'false'] }] : [];
}

/** Whether a request without it is refused: what the key fixes need not be sent. */
export function isRequired({ required, fixed }: DescribedParameter): boolean {
  return required && !fixed;
}

/** Its default as JSON; none where JSON's own numbers would round it, or the key fixes another value. */
function defaultOf({ type, default: written, fixed }: DescribedParameter): { default?: Json } {
  if (written === null || fixed) return {};
  const values = [written].flat().map((text) => asJson(type, text));
  if (values.some((value) => type === 'integer' && typeof value === 'string')) return {};
  return { default: typeof written === 'string' ? (values[0] ?? null) : values };
}

/** A text as JSON of the declared type; an integer that JSON's own numbers would round stays one. */
function asJson(type: DescribedParameter['type'], text: string): Json {
  if (type === 'boolean') return text === 'true';
  if (type === 'number' || (type === 'integer' && Number.isSafeInteger(Number(text)))) return Number(text);
  return text;
}

/** What it means, in words that hold what a schema cannot say. */
export function describeParameter(parameter: DescribedParameter): string {
  const { description, type, list, fixed, byRight, default: fallback, defaultLookback } = parameter;
  const said = description === '' ? [] : [description];
  if (fixed) {
    return [...said, 'This key fixes it: leave it out. Another value than the fixed one is answered 403.'].join(' ');
  }
  return [
    ...said,
    ...{
      string: [],
      enum: [],
      boolean: [],
      number: [],
      integer: [],
      regex: ['An RE2 regular expression.'],
      timestamp: ['ISO 8601, UTC where it names no zone; a date alone is its first instant; at most microseconds.'],
      date: [],
    }[type],
    ...(list ? [`A list: given several times, or a JSON array; at most ${String(MOST_VALUES)} values.`] : []),
    ...(fallback === null ? [] : [`Default: ${[fallback].flat().join(', ')}.`]),
    ...(defaultLookback === null ? [] : [describeLookback(defaultLookback)]),
    ...(byRight
      ? ['Redaction is forced here: only keys created with `--allow-sql` may send it, others are answered 403.']
      : []),
  ].join(' ');
}

/** A value to show and to try, or one of a list, that the declaration allows; a default or the first of several where there is one. */
export function exampleOf({ name, type, default: fallback, values, minimum, maximum }: DescribedParameter): string {
  if (fallback !== null) return [fallback].flat()[0] ?? '';
  switch (type) {
    case 'enum':
      return values?.[0] ?? '';
    case 'timestamp':
      return '2026-09-30T11:00:00Z';
    case 'date':
      return '2026-09-30';
    case 'boolean':
      return 'true';
    case 'integer':
    case 'number':
      return String(minimum ?? Math.min(1, maximum ?? 1));
    case 'string':
    case 'regex':
      // What Supabase Studio calls the only project of an installation of one's own.
      return name === 'project' ? 'default' : 'example';
  }
}

/** The same as JSON of the declared type. */
export function jsonExampleOf(parameter: DescribedParameter): Json {
  const { type, list, fixed } = parameter;
  const text = exampleOf(parameter);
  const value = fixed ? text : asJson(type, text);
  return list ? [value] : value;
}

/** `sql` and `lql`. */
export const TEXT_SCHEMA: Schema = { type: 'string', maxLength: LONGEST_TEXT };
