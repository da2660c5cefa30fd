import { existsSync } from 'node:fs';

import { generate } from './generate';
import { KNOWN, LARGE } from './known';
import { aftermath, attack } from './suite';
import { type HostileRequest, Target } from './target';
import { LONG, oneOf } from '../scale';

/** Generated requests of one run; `npm run test:long -- hostile` makes more, of any seed. */
const GENERATED = LONG ? 600 : 20;
const SEED = 20_261;

function* some(count: number, requests: Generator<HostileRequest>): Generator<HostileRequest> {
  for (let i = 0; i < count; i++) yield requests.next().value as HostileRequest;
}

// Only Linux tells how long a thread has had a processor.
(existsSync('/proc/thread-self') ? describe : describe.skip)('no single request stops the others', () => {
  describe.each([
    [
      'within little memory and time',
      { duckdb: 256, cache: 64, timeout: 2 },
      [
        ['those that once did', oneOf(2, KNOWN)],
        ['generated ones', [...some(GENERATED, generate(SEED))]],
      ],
    ],
    // Of the first four one is redacted, CSV and compressed.
    [
      'within much memory and time',
      { duckdb: 1024, cache: 64, timeout: 60 },
      [['large results', LONG ? LARGE.slice(0, 4) : LARGE.slice(1, 2)]],
    ],
  ] as const)('%s', (_how, limits, attacks) => {
    let target: Target;
    beforeAll(async () => {
      target = await Target.start(limits);
    }, 60_000);
    afterAll(() => target.stop());

    test.each(attacks)(
      '%s',
      async (_what, requests) => {
        expect(await attack(target, requests)).toEqual([]);
        expect(await aftermath(target)).toEqual([]);
      },
      180_000,
    );
  });
});
