import { existsSync } from 'node:fs';

import { generate } from './generate';
import { KNOWN, LARGE } from './known';
import { aftermath, attack } from './suite';
import { type HostileRequest, Target } from './target';

/** Generated requests of one run; `npm run fuzz:hostile` makes more, of any seed. */
const GENERATED = 60;
const SEED = 20_261;

function* some(count: number, requests: Generator<HostileRequest>): Generator<HostileRequest> {
  for (let i = 0; i < count; i++) yield requests.next().value as HostileRequest;
}

// Only Linux tells how long a thread has had a processor.
(existsSync('/proc/thread-self') ? describe : describe.skip)('no single request stops the others', () => {
  test.each([
    ['those that once did', KNOWN, { duckdb: 256, cache: 64, timeout: 2 }],
    ['large results', LARGE.slice(0, 4), { duckdb: 1024, cache: 64, timeout: 60 }],
    ['generated ones', [...some(GENERATED, generate(SEED))], { duckdb: 256, cache: 64, timeout: 2 }],
  ])(
    '%s',
    async (_what, requests, limits) => {
      const target = await Target.start(limits);
      try {
        expect(await attack(target, requests)).toEqual([]);
        expect(await aftermath(target)).toEqual([]);
      } finally {
        await target.stop();
      }
    },
    180_000,
  );
});
