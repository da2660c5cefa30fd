import type { BoundParameter, TypedParameter } from '@logquay/googlesql/types';
import { ServiceError } from '../errors';
import { nearest } from '@logquay/googlesql';
import { TokenRefused } from '../keys/claims';
import { ClaimedValue, type PinnedValue, RESERVED } from '../keys/key';
import { SOFT_RESERVED } from './declaration';
import { BOUND_TYPES, type Endpoint, type ParameterDeclaration } from './endpoint';
import { quoteValue, type RawEntry, type RawValue } from './raw-entries';
import { hourOf, quotePattern, readList, readValue, startBefore, type ValueReading } from './values';

/** The parameters of an endpoint as the holder of a key with `pins` sees them. */
export function describeParameters(
  { parameters }: Pick<Endpoint, 'parameters'>,
  pins: ReadonlyMap<string, unknown>,
): readonly object[] {
  return parameters.map((declared) => (pins.has(declared.name) ? describePinned(declared) : describe(declared)));
}

function describe(declared: ParameterDeclaration): object {
  const { name, required, description } = declared;
  return {
    name,
    type: typeName(declared),
    required,
    description,
    ...(declared.default === null ? {} : { default: declared.default }),
    ...(declared.defaultLookback === null ? {} : { defaultLookback: declared.defaultLookback }),
    ...(declared.values === null ? {} : { values: declared.values }),
    ...(declared.minimum === null ? {} : { minimum: declared.minimum }),
    ...(declared.maximum === null ? {} : { maximum: declared.maximum }),
  };
}

/**
 * A parameter that the key pins. As in `/openapi.json` (src/openapi/parameter-schema.ts) its values, bounds and default are
 * left out: the values that an enum allows may be names of other tenants.
 */
function describePinned(declared: ParameterDeclaration): object {
  const { name, description } = declared;
  return { name, type: typeName(declared), required: false, description, fixed: true };
}

/** The type as a declaration has it: `string`, `string[]`. */
export function typeName({ type, list }: Pick<ParameterDeclaration, 'type' | 'list'>): string {
  return list ? `${type}[]` : type;
}

/** What a start is that a request leaves out, in a sentence. @param written as the declaration has it: `7d` */
export function describeLookback(written: string): string {
  const count = Number(written.slice(0, -1));
  const unit = written.endsWith('d') ? 'day' : 'hour';
  return `Left out, it is ${String(count)} ${unit}${count === 1 ? '' : 's'} before the last full hour.`;
}

/** What a value is in JSON by what it is bound as, in a body and in a claim; a body may have a string in its place. */
const JSON_KIND = { STRING: 'string', INT64: 'number', FLOAT64: 'number', BOOL: 'boolean' } as const;

/**
 * The values to bind for one request, one for each declared parameter in the order of the declarations
 * (docs/endpoints.md, docs/keys.md).
 *
 * `raw`: everything that URL and body gave, reserved and undeclared names included; the latter are ignored. `pins`: what
 * the caller's key fixes, by declared name. `now`: microseconds since the epoch, for `default_lookback`. Absent optional
 * values are bound as '', absent lists as empty ones.
 *
 * Throws `invalidParameter` (missing, malformed, too long, given twice) and `accessDenied` (another value than the pinned
 * one), both with the parameter's name.
 */
export function readParameters(
  endpoint: Endpoint,
  raw: readonly RawEntry[],
  pins: ReadonlyMap<string, PinnedValue>,
  now: bigint,
): BoundParameter[] {
  return endpoint.parameters.map((declaration) => readParameter(declaration, raw, pins, now));
}

/** The value to bind for one declared parameter. @throws as `readParameters` */
export function readParameter(
  declaration: ParameterDeclaration,
  raw: readonly RawEntry[],
  pins: ReadonlyMap<string, PinnedValue>,
  now: bigint,
): BoundParameter {
  const { name } = declaration;
  const pin = pins.get(name);
  if (declaration.list) {
    const sent = allValues(raw, name);
    const value = pin === undefined ? readSentList(declaration, sent) : readPinnedList(declaration, sent, pin);
    return { name, type: arrayTypeOf(declaration), value };
  }
  const sent = onlyValue(raw, name);
  const value = pin === undefined ? readSent(declaration, sent, now) : readPinned(declaration, sent, pin);
  return { name, type: BOUND_TYPES[declaration.type], value };
}

/** The starts of a request that are left to `default_lookback`: they move on with the clock. */
export interface MovingStarts {
  /** Of the parameters. */
  readonly names: readonly string[];
  /** The hour at which they are what they are, counted from the epoch. */
  readonly hour: number;
}

/** Which of the values that `readParameters` gives for the same request move on with the clock; null: none. */
export function readMovingStarts(
  { parameters }: Pick<Endpoint, 'parameters'>,
  raw: readonly RawEntry[],
  pins: ReadonlyMap<string, PinnedValue>,
  now: bigint,
): MovingStarts | null {
  const names = parameters
    .filter(({ name, defaultLookback }) => defaultLookback !== null && !pins.has(name) && onlyValue(raw, name) === null)
    .map(({ name }) => name);
  return names.length === 0 ? null : { names, hour: hourOf(now) };
}

/** Bound parameters with starts that move on as absent: the same at any time. */
export function withoutMovingStarts(
  parameters: readonly BoundParameter[],
  moving: MovingStarts | null,
): readonly BoundParameter[] {
  if (moving === null) return parameters;
  return parameters.map((parameter) =>
    moving.names.includes(parameter.name) ? { name: parameter.name, type: 'STRING', value: '' } : parameter,
  );
}

/** The types that the declared parameters are bound with, in their order. */
export function boundTypes({ parameters }: Pick<Endpoint, 'parameters'>): TypedParameter[] {
  return parameters.map((declared) => ({
    name: declared.name,
    type: declared.list ? arrayTypeOf(declared) : BOUND_TYPES[declared.type],
  }));
}

function arrayTypeOf({ type }: ParameterDeclaration): `ARRAY<${(typeof BOUND_TYPES)[ParameterDeclaration['type']]}>` {
  return `ARRAY<${BOUND_TYPES[type]}>`;
}

/** What was given under a name; null: nothing, an empty text or a JSON null, which all mean the same. */
export function onlyValue(raw: readonly RawEntry[], name: string): Exclude<RawValue, { kind: 'null' }> | null {
  const given = raw.filter((entry) => entry.name === name);
  if (given.length > 1) throw givenTwice(name);
  const value = given[0]?.value;
  if (value === undefined || value.kind === 'null' || (value.kind === 'text' && value.text === '')) return null;
  return value;
}

/** The values of a list: of a parameter given several times, or of a JSON array; those that are empty left out. */
function allValues(raw: readonly RawEntry[], name: string): readonly RawValue[] {
  const given = raw.filter((entry) => entry.name === name);
  // JSON has arrays: a member beside another of its name, or beside the URL's, is a mistake.
  if (given.length > 1 && given.some(({ isMember }) => isMember)) throw givenTwice(name);
  return given
    .flatMap(({ value }) => (value.kind === 'array' ? value.items : value.kind === 'null' ? [] : [value]))
    .filter((value) => value.kind !== 'text' || value.text !== '');
}

function givenTwice(name: string): ServiceError {
  return new ServiceError('invalidParameter', `Parameter "${name}" is given more than once.`, { parameter: name });
}

function readSent(declaration: ParameterDeclaration, sent: RawValue | null, now: bigint): string {
  if (sent !== null) return canonical(declaration, readableText(declaration, sent));
  if (declaration.defaultLookback !== null) return startBefore(declaration.defaultLookback, hourOf(now));
  const fallback = whenAbsent(declaration);
  return fallback === null ? '' : canonical(declaration, String(fallback));
}

function readSentList(declaration: ParameterDeclaration, sent: readonly RawValue[]): readonly string[] {
  const texts =
    sent.length === 0 ? [whenAbsent(declaration) ?? []].flat() : sent.map((value) => readableText(declaration, value));
  const reading = readList(declaration, texts);
  if (reading.ok) return reading.values;
  throw reading.text === null
    ? notAllowed(declaration, `Parameter "${declaration.name}" must be ${reading.expected}.`, reading.allowed)
    : unfit(declaration, reading, reading.text);
}

/** The default of a parameter that is not given; null: it has none. @throws ServiceError where it is required */
function whenAbsent(declaration: ParameterDeclaration): ParameterDeclaration['default'] {
  const { name, description, values } = declaration;
  if (!declaration.required) return declaration.default;
  const what = `It is of type ${typeName(declaration)}${description === '' ? '.' : `: ${description}`}`;
  const message = `Parameter "${name}" is required. ${what}`;
  throw notAllowed(declaration, message, values ?? []);
}

/** @throws ServiceError for a JSON value of a kind that the type does not take */
function readableText(declaration: ParameterDeclaration, value: RawValue): string {
  if (isReadable(declaration, value)) return value.text;
  const kind = JSON_KIND[BOUND_TYPES[declaration.type]];
  const kinds = kind === 'string' ? 'a string' : `a string or a ${kind}`;
  const article = value.kind === 'array' || value.kind === 'object' ? 'an' : 'a';
  const message = `${subjectOf(declaration)} must be ${kinds} in a JSON body, not ${article} ${value.kind}.`;
  throw notAllowed(declaration, message, []);
}

type ReadableValue = Extract<RawValue, { text: string }>;

function isReadable(declaration: ParameterDeclaration, value: RawValue): value is ReadableValue {
  return value.kind === 'text' || value.kind === JSON_KIND[BOUND_TYPES[declaration.type]];
}

function canonical(declaration: ParameterDeclaration, text: string): string {
  const reading = readValue(declaration, text);
  if (reading.ok) return reading.value;
  throw unfit(declaration, reading, text);
}

function unfit(
  declaration: ParameterDeclaration,
  { expected, allowed }: Pick<Extract<ValueReading, { ok: false }>, 'expected' | 'allowed'>,
  text: string,
): ServiceError {
  return notAllowed(declaration, `${subjectOf(declaration)} must be ${expected}, not ${quoteValue(text)}.`, allowed);
}

function subjectOf({ name, list }: ParameterDeclaration): string {
  return list ? `Each value of parameter "${name}"` : `Parameter "${name}"`;
}

function notAllowed({ name }: ParameterDeclaration, message: string, allowed: readonly string[]): ServiceError {
  const details = { parameter: name, ...(allowed.length === 0 ? {} : { allowed }) };
  return new ServiceError('invalidParameter', message, details);
}

/** The pinned value, whatever form the caller's equal value had; the message never says what is pinned. */
function readPinned(declaration: ParameterDeclaration, sent: RawValue | null, given: PinnedValue): string {
  const pin = given instanceof ClaimedValue ? claimedText(declaration, given) : given;
  if (typeof pin !== 'string') throw pinnedOtherwise(declaration);
  const pinned = readValue(declaration, pin);
  const matches =
    sent === null || (isReadable(declaration, sent) && (sent.text === pin || sameValue(declaration, sent.text, pin)));
  // A regular expression is pinned as the text it is to find, so its own syntax does not matter.
  const bindable = pinned.ok || declaration.type === 'regex';
  if (!matches || !bindable) throw pinnedOtherwise(declaration);
  return declaration.type === 'regex' ? quotePattern(pin) : pinned.ok ? pinned.value : pin;
}

/** A pinned list: the caller sends the same values in the same order, or nothing. */
function readPinnedList(
  declaration: ParameterDeclaration,
  sent: readonly RawValue[],
  pin: PinnedValue,
): readonly string[] {
  const texts = pin instanceof ClaimedValue ? claimedTexts(declaration, pin) : [pin].flat();
  const pinned = readList(declaration, texts);
  // An empty list would filter nothing in many a query.
  if (!pinned.ok || pinned.values.length === 0) throw pinnedOtherwise(declaration);
  if (sent.length === 0) return pinned.values;
  const own = readList(
    declaration,
    sent.flatMap((value) => (isReadable(declaration, value) ? value.text : [])),
  );
  const matches =
    own.ok &&
    own.values.length === sent.length &&
    own.values.length === pinned.values.length &&
    own.values.every((value, i) => value === pinned.values[i]);
  if (!matches) throw pinnedOtherwise(declaration);
  return pinned.values;
}

/** @throws ServiceError unauthenticated for a claim of another kind, or one that the parameter does not take */
function claimedText(declaration: ParameterDeclaration, claim: ClaimedValue): string {
  const [text = ''] = claimedTexts(declaration, claim);
  return text;
}

function claimedTexts(declaration: ParameterDeclaration, { kind, list, texts }: ClaimedValue): readonly string[] {
  const fits =
    kind === JSON_KIND[BOUND_TYPES[declaration.type]] &&
    // A claim is no pattern.
    declaration.type !== 'regex' &&
    list === declaration.list &&
    texts.every(
      (text) =>
        readValue(declaration, text).ok && (declaration.type !== 'integer' || Number.isSafeInteger(Number(text))),
    );
  if (!fits)
    throw new TokenRefused({ name: '', rateLimit: null }, `the claim does not fit the parameter ${declaration.name}`);
  return texts;
}

function pinnedOtherwise({ name }: ParameterDeclaration): ServiceError {
  const message = `This key fixes the parameter "${name}" to another value.`;
  return new ServiceError('accessDenied', message, { parameter: name });
}

function sameValue(declaration: ParameterDeclaration, sent: string, pin: string): boolean {
  const [a, b] = [readValue(declaration, sent), readValue(declaration, pin)];
  return a.ok && b.ok && a.value === b.value;
}

export interface UnknownParameter {
  readonly name: string;
  /** The parameter that was probably meant. */
  readonly near: string | undefined;
}

/** Names that are reported, and compared, at most. */
const MOST = 10;

/** Parameters of a request that mean nothing to the endpoint, each name once. */
export function unknownParameters(
  { parameters }: Pick<Endpoint, 'parameters'>,
  given: readonly RawEntry[],
): readonly UnknownParameter[] {
  const declared = parameters.map(({ name }) => name);
  const known = new Set<string>([...declared, ...RESERVED, ...SOFT_RESERVED]);
  const unknown = new Set(given.map(({ name }) => name).filter((name) => !known.has(name)));
  return Array.from(unknown)
    .slice(0, MOST)
    .map((name) => ({ name, near: nearest(name, [...declared, ...RESERVED]) }));
}
