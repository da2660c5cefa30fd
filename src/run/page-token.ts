import type { Secret } from '../config';
import { ServiceError } from '../errors';
import type { PagePosition } from './page-query';
import { SealedTexts } from './sealed-texts';

/** Positions of pages as opaque texts. */
export class PageTokens {
  readonly #sealed: SealedTexts;

  /** @param secret null: one of this process */
  constructor(secret: Secret | null) {
    this.#sealed = new SealedTexts(secret);
  }

  /** @param purpose what the token is good for, and for nothing else */
  seal(position: PagePosition, purpose: string): string {
    return this.#sealed.seal(JSON.stringify(position), purpose);
  }

  /** @throws ServiceError invalidParameter for a token of another request, key or service, or of a changed endpoint */
  open(token: string, purpose: string): PagePosition {
    const text = this.#sealed.open(token, purpose);
    if (text !== null) return JSON.parse(text) as PagePosition;
    const message =
      'The page_token is not one of this request: other parameters, another key, or an endpoint that has changed.';
    throw new ServiceError('invalidParameter', message, { parameter: 'page_token', hint: 'Begin without it.' });
  }
}
