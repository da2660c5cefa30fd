import type { DescribedParameter } from './described';
import type { Json, Schema } from './schema';

/** Longest value of a declared parameter and of `sql` or `lql`: in bytes, and so never more characters (docs/http.md). */
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
  // The values that an enum allows are other tenants' names for all one knows: a fixed parameter tells none of them.
  if (parameter.fixed) return { type: 'string', maxLength: LONGEST_VALUE };
  const { type, values, minimum, maximum } = parameter;
  const common = { ...defaultOf(parameter) };
  const bounds = { ...(minimum === null ? {} : { minimum }), ...(maximum === null ? {} : { maximum }) };
  switch (type) {
    case 'string':
    case 'regex':
      return { type: 'string', maxLength: LONGEST_VALUE, ...common };
    case 'enum':
      return { type: 'string', enum: values ?? [], ...common };
    case 'timestamp':
      return { type: 'string', pattern: INSTANT_FORM, ...common };
    case 'date':
      return { type: 'string', format: 'date', pattern: DATE_FORM, ...common };
    case 'integer':
      return { type: 'integer', format: 'int64', ...bounds, ...common };
    case 'number':
      return { type: 'number', format: 'double', ...bounds, ...common };
    case 'boolean':
      return { type: 'boolean', ...common };
  }
}

/** What a value is in a JSON body: as in the URL, or as a string that reads like it; where it may be absent, null too. */
export function jsonSchema(parameter: DescribedParameter): Schema {
  const schema = urlSchema(parameter);
  const forms = [schema, ...textForms(parameter), ...(isRequired(parameter) ? [] : [{ type: 'null' }, EMPTY])];
  return forms.length === 1 ? schema : { anyOf: forms };
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

/** Its default as JSON; none where JSON's own numbers would round it. */
function defaultOf({ type, default: text }: DescribedParameter): { default?: Json } {
  if (text === null) return {};
  if (type === 'boolean') return { default: text === 'true' };
  if (type !== 'integer' && type !== 'number') return { default: text };
  const number = Number(text);
  return type === 'integer' && !Number.isSafeInteger(number) ? {} : { default: number };
}

/** What it means, in words that hold what a schema cannot say. */
export function describeParameter(parameter: DescribedParameter): string {
  const { description, type, fixed, byRight, default: fallback } = parameter;
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
    ...(fallback === null ? [] : [`Default: ${fallback}.`]),
    ...(byRight
      ? ['Redaction is forced here: only keys created with `--allow-sql` may send it, others are answered 403.']
      : []),
  ].join(' ');
}

/** A value to show and to try, that the declaration allows; a default or the first of several where there is one. */
export function exampleOf({ name, type, default: fallback, values, minimum, maximum }: DescribedParameter): string {
  if (fallback !== null) return fallback;
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
  const text = exampleOf(parameter);
  const { type, fixed } = parameter;
  if (fixed) return text;
  if (type === 'boolean') return text === 'true';
  if (type === 'number' || (type === 'integer' && Number.isSafeInteger(Number(text)))) return Number(text);
  return text;
}

/** `sql` and `lql`. */
export const TEXT_SCHEMA: Schema = { type: 'string', maxLength: LONGEST_TEXT };
