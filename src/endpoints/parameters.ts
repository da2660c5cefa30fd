import type { BoundParameter } from '../engines/contract';
import { ServiceError } from '../errors';

import type { Endpoint, ParameterDeclaration } from './endpoint';
import { quoteValue } from './quote-value';
import type { RawEntry, RawValue } from './raw-entry';
import { quotePattern } from './values/pattern';
import { readValue } from './values/value';

const BOUND_TYPES = {
  string: 'STRING',
  enum: 'STRING',
  regex: 'STRING',
  timestamp: 'STRING',
  date: 'STRING',
  integer: 'INT64',
  number: 'FLOAT64',
  boolean: 'BOOL',
} as const satisfies Record<ParameterDeclaration['type'], BoundParameter['type']>;

/** JSON types, beside a string, that a declared type takes. */
const JSON_KIND: ReadonlyMap<ParameterDeclaration['type'], RawValue['kind']> = new Map([
  ['integer', 'number'],
  ['number', 'number'],
  ['boolean', 'boolean'],
]);

/**
 * The values to bind for one request, one for each declared parameter in the order of the declarations
 * (docs/endpoints.md, docs/keys.md).
 *
 * `raw`: everything that URL and body gave, reserved and undeclared names included; the latter are ignored. `pins`: what
 * the caller's key fixes, by declared name. Absent optional values are bound as ''.
 *
 * Throws `invalidParameter` (missing, malformed, too long, given twice) and `accessDenied` (another value than the pinned
 * one), both with the parameter's name.
 */
export function readParameters(
  endpoint: Endpoint,
  raw: readonly RawEntry[],
  pins: ReadonlyMap<string, string>,
): BoundParameter[] {
  return endpoint.parameters.map((declaration) => {
    const sent = onlyValue(raw, declaration.name);
    const pin = pins.get(declaration.name);
    const value = pin === undefined ? readSent(declaration, sent) : readPinned(declaration, sent, pin);
    return { name: declaration.name, type: BOUND_TYPES[declaration.type], value };
  });
}

/** The types that the declared parameters are bound with, in their order. */
export function boundTypes({ parameters }: Pick<Endpoint, 'parameters'>): Pick<BoundParameter, 'name' | 'type'>[] {
  return parameters.map(({ name, type }) => ({ name, type: BOUND_TYPES[type] }));
}

/** What was given under a name; null: nothing, an empty text or a JSON null, which all mean the same. */
export function onlyValue(raw: readonly RawEntry[], name: string): Exclude<RawValue, { kind: 'null' }> | null {
  const given = raw.filter((entry) => entry.name === name);
  if (given.length > 1) {
    throw new ServiceError('invalidParameter', `Parameter "${name}" is given more than once.`, { parameter: name });
  }
  const value = given[0]?.value;
  if (value === undefined || value.kind === 'null' || (value.kind === 'text' && value.text === '')) return null;
  return value;
}

function readSent(declaration: ParameterDeclaration, sent: ReturnType<typeof onlyValue>): string {
  const { name, type } = declaration;
  if (sent === null) {
    if (declaration.required) throw missing(declaration);
    if (declaration.default === null) return '';
    return canonical(declaration, declaration.default);
  }
  if (!isReadable(declaration, sent)) {
    const other = JSON_KIND.get(type);
    const kinds = other === undefined ? 'a string' : `a string or a ${other}`;
    const article = sent.kind === 'array' || sent.kind === 'object' ? 'an' : 'a';
    throw new ServiceError(
      'invalidParameter',
      `Parameter "${name}" must be ${kinds} in a JSON body, not ${article} ${sent.kind}.`,
      { parameter: name },
    );
  }
  return canonical(declaration, sent.text);
}

type ReadableValue = Extract<RawValue, { text: string }>;

function isReadable(declaration: ParameterDeclaration, value: RawValue): value is ReadableValue {
  if (value.kind === 'text') return true;
  return JSON_KIND.get(declaration.type) === value.kind;
}

function canonical(declaration: ParameterDeclaration, text: string): string {
  const reading = readValue(declaration, text);
  if (reading.ok) return reading.value;
  throw new ServiceError(
    'invalidParameter',
    `Parameter "${declaration.name}" must be ${reading.expected}, not ${quoteValue(text)}.`,
    { parameter: declaration.name, ...(reading.allowed.length === 0 ? {} : { allowed: reading.allowed }) },
  );
}

function missing({ name, type, description, values }: ParameterDeclaration): ServiceError {
  const what = description === '' ? `It is of type ${type}.` : `It is of type ${type}: ${description}`;
  return new ServiceError('invalidParameter', `Parameter "${name}" is required. ${what}`, {
    parameter: name,
    ...(values === null ? {} : { allowed: values }),
  });
}

/** The pinned value, whatever form the caller's equal value had; the message never says what is pinned. */
function readPinned(declaration: ParameterDeclaration, sent: ReturnType<typeof onlyValue>, pin: string): string {
  const pinned = readValue(declaration, pin);
  const matches =
    sent === null || (isReadable(declaration, sent) && (sent.text === pin || sameValue(declaration, sent.text, pin)));
  // A regular expression is pinned as the text it is to find, so its own syntax does not matter.
  const bindable = pinned.ok || declaration.type === 'regex';
  if (!matches || !bindable) {
    throw new ServiceError('accessDenied', `This key fixes the parameter "${declaration.name}" to another value.`, {
      parameter: declaration.name,
    });
  }
  return declaration.type === 'regex' ? quotePattern(pin) : pinned.ok ? pinned.value : pin;
}

function sameValue(declaration: ParameterDeclaration, sent: string, pin: string): boolean {
  const [a, b] = [readValue(declaration, sent), readValue(declaration, pin)];
  return a.ok && b.ok && a.value === b.value;
}
