import Negotiator from 'negotiator';

import type { Encoding } from '../../rendering/encoded-response';

/** What negotiator's own types leave out: whom to prefer among codings of one weight. */
interface Preferring {
  encodings(available: string[], options: { preferred: string[] }): string[];
}

/**
 * The coding that `Accept-Encoding` prefers (RFC 9110, 12.5.3); of equals, the one that packs better. null: as it is,
 * which is also the answer to a client that refuses everything.
 */
export function chooseCoding(accepted: string | undefined): Encoding | null {
  if (accepted === undefined) return null;
  const known = CHOSEN.get(accepted);
  if (known !== undefined) return known.coding;
  const coding = negotiate(accepted);
  if (accepted.length > LONGEST) return coding;
  if (CHOSEN.size >= MOST) CHOSEN.clear();
  CHOSEN.set(accepted, { coding });
  return coding;
}

/** Clients send one of a few texts. */
const CHOSEN = new Map<string, { readonly coding: Encoding | null }>();
const MOST = 100;
const LONGEST = 256;

/** Codings of one header that are looked at. */
const MOST_LISTED = 100;

function negotiate(accepted: string): Encoding | null {
  const listed = accepted.split(',', MOST_LISTED).join();
  const negotiator: Preferring = new Negotiator({ headers: { 'accept-encoding': listed } });
  const [first] = negotiator.encodings(['br', 'gzip', 'identity'], { preferred: ['br', 'gzip'] });
  return first === 'br' || first === 'gzip' ? first : null;
}
