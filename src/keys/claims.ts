/** What the claims of a token say, read as the entry of its issuer has it: values of pins, and a scope that is narrower. */
import { ServiceError } from '../errors';
import { ClaimedValue, isReservedParameter, type Key, type PinnedValue } from './key';

/** One message for every token that is not taken: which reason it was is in the log. */
const REFUSAL = 'The token is not valid.';

/** A token that is not taken. */
export class TokenRefused extends ServiceError {
  /**
   * @param account whose rate it counts in, as its issuer has signed it; null: nobody known has
   * @param why for the log
   */
  constructor(
    readonly account: Pick<Key, 'name' | 'rateLimit'> | null,
    readonly why: string,
  ) {
    super('unauthenticated', REFUSAL, { hint: 'Ask for a new one.' });
  }
}

/** Names of members, from the outermost. */
export type ClaimPath = readonly string[];

/** The value of a claim; undefined: there is none. Members are objects' own, whatever their names. */
function claimAt(claims: unknown, path: ClaimPath): unknown {
  let value = claims;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, name))
      return undefined;
    value = Reflect.get(value, name);
  }
  return value;
}

/** What a pin of an issuer's entry is: fixed, or a claim of each token. */
export type IssuerPin = PinnedValue | { readonly claim: ClaimPath };

/** What every token of an issuer may do at most. */
export interface IssuerScope {
  readonly endpoints: readonly string[];
  readonly pins: ReadonlyMap<string, IssuerPin>;
  readonly rateLimit: number | null;
}

/** What one token may do. */
export interface TokenScope {
  readonly endpoints: readonly string[];
  readonly pins: ReadonlyMap<string, PinnedValue>;
  readonly rateLimit: number | null;
}

/** The claim by which a token narrows itself. */
const NARROWING = 'logquay';

/**
 * The scope of a token: that of its issuer, with pins filled by claims, and narrower where the claim `logquay` says so.
 *
 * @returns a text: which claim does not fit, for the log
 */
export function scopeOf(claims: unknown, most: IssuerScope): TokenScope | string {
  const pins = new Map<string, PinnedValue>();
  for (const [name, pin] of most.pins) {
    const value = isClaim(pin) ? ClaimedValue.of(claimAt(claims, pin.claim)) : pin;
    if (value === null) return `the claim ${isClaim(pin) ? pin.claim.join('.') : name} cannot fill ${name}`;
    pins.set(name, value);
  }
  const { endpoints, rateLimit } = most;
  const narrower = claimAt(claims, [NARROWING]);
  return narrower === undefined ? { endpoints, pins, rateLimit } : narrowed(narrower, { endpoints, pins, rateLimit });
}

function isClaim(pin: IssuerPin): pin is { readonly claim: ClaimPath } {
  return typeof pin === 'object' && 'claim' in pin;
}

function narrowed(written: unknown, most: TokenScope): TokenScope | string {
  const members = ['endpoints', 'pins', 'rate_limit'];
  if (typeof written !== 'object' || written === null || Object.keys(written).some((name) => !members.includes(name)))
    return `${NARROWING} may have ${members.join(', ')} and nothing else`;
  const endpoints = claimAt(written, ['endpoints']) ?? most.endpoints;
  if (!isSubset(endpoints, most.endpoints)) return `${NARROWING}.endpoints names what its issuer may not run`;
  const given = claimAt(written, ['pins']) ?? {};
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return `${NARROWING}.pins is no object`;
  const pins = new Map(most.pins);
  for (const [name, value] of Object.entries(given)) {
    const pin = ClaimedValue.of(value);
    const before = pins.get(name);
    if (pin === null || isReservedParameter(name) || !/^[A-Za-z_]\w*$/.test(name))
      return `${NARROWING}.pins has a value that pins nothing`;
    if (before !== undefined && !isSame(before, pin)) return `${NARROWING}.pins widens ${name}`;
    if (before === undefined) pins.set(name, pin);
  }
  const rate = claimAt(written, ['rate_limit']) ?? most.rateLimit;
  if (rate !== null && !(typeof rate === 'number' && rate > 0)) return `${NARROWING}.rate_limit is no rate`;
  const rateLimit = rate === null ? null : Math.min(rate, most.rateLimit ?? Infinity);
  return { endpoints, pins, rateLimit };
}

function isSubset(given: unknown, most: readonly unknown[]): given is readonly string[] {
  return Array.isArray(given) && given.length > 0 && given.every((name: unknown) => most.includes(name));
}

function isSame(before: PinnedValue, { texts, list, kind }: ClaimedValue): boolean {
  if (before instanceof ClaimedValue && (before.kind !== kind || before.list !== list)) return false;
  const own = before instanceof ClaimedValue ? before.texts : [before].flat();
  return own.length === texts.length && own.every((text, i) => text === texts[i]);
}
