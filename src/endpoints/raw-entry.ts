/** A parameter as it came, before anyone knows whether it is declared. */
export interface RawEntry {
  readonly name: string;
  readonly value: RawValue;
  /** Of a JSON object, whose names are each given once. */
  readonly isMember?: boolean;
}

/**
 * What came for it. URLs and forms give `text` only; in a JSON body a number keeps the digits it was written with, as an
 * integer is read from its digits and never through a double (docs/endpoints.md).
 */
export type RawValue =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'boolean'; readonly text: 'true' | 'false' }
  /** `items`: its first values, one more than a list may have at most. */
  | { readonly kind: 'array'; readonly items: readonly RawValue[] }
  | { readonly kind: 'null' | 'object' };
