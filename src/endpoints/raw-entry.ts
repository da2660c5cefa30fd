/** A parameter as it came, before anyone knows whether it is declared. */
export interface RawEntry {
  readonly name: string;
  readonly value: RawValue;
}

/**
 * What came for it. URLs and forms give `text` only; in a JSON body a number keeps the digits it was written with, as an
 * integer is read from its digits and never through a double (docs/endpoints.md).
 */
export type RawValue =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'boolean'; readonly text: 'true' | 'false' }
  | { readonly kind: 'null' | 'array' | 'object' };
