import { createHash, randomBytes } from 'node:crypto';

import type { Entry, Identity } from '../../src/cache/stores';
import { EncodedResponse } from '../../src/rendering/encoded-response';

export function identityOf(text: string): Identity {
  return { text, hash: createHash('sha256').update(text).digest('hex') };
}

/** One that no other test has. */
export function newIdentity(): Identity {
  return identityOf(JSON.stringify(['endpoint', randomBytes(12).toString('hex'), 'Größe 🜁 "quoted"']));
}

/** An entry made now, its forms complete. */
export async function entryOf(identity: Identity, text: string, fence = 1): Promise<Entry> {
  const response = new EncodedResponse(Buffer.from(text), 'application/json', false);
  await response.complete();
  return { question: identity.text, response, createdAt: Date.now(), lifetime: 60_000, fence };
}

/** Rows as a logs endpoint answers them, about so many bytes. */
export function rowsOf(bytes: number, seed = 0): string {
  const rows: string[] = [];
  for (let length = 0, i = 0; length < bytes; i++) {
    const row = JSON.stringify({
      id: createHash('sha256').update(`${seed} ${i}`).digest('hex').slice(0, 32),
      timestamp: 1_790_000_000_000_000 + i,
      event_message: `GET | 200 | /rest/v1/things?select=${seed}.${i}`,
    });
    rows.push(row);
    length += row.length + 1;
  }
  return `{"result":[${rows.join(',')}]}`;
}
