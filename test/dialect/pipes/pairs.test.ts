/** Queries in pipe syntax have the rows of their standard forms, on the embedded engine and on the local BigQuery. */
import { onBothEngines } from '../on-both-engines';
import { Random } from '../random';
import { ask, compared } from '../two-engines';
import { randomPair } from './pairs';
import { LONG } from '../../scale';

const SEED = 20261122;
const PAIRS = LONG ? 2000 : 80;

onBothEngines('pipe syntax', (engines) => {
  it(`means what ${PAIRS} standard forms mean`, async () => {
    const random = new Random(SEED);
    const differences: string[] = [];
    for (let n = 0; n < PAIRS; n++) {
      const { pipes, standard, ordered } = randomPair(random);
      const [want, ...got] = await Promise.all([
        ask(engines().reference, standard),
        ask(engines().embedded, pipes),
        ask(engines().reference, pipes),
      ]);
      if ('error' in want) differences.push(`${standard}\n=> ${want.error}`);
      for (const answer of got) {
        const difference = compared(answer, want, ordered ? 'ordered' : 'any order');
        if (difference !== null) differences.push(`${pipes}\n${standard}\n=> ${difference}`);
      }
    }
    expect(differences).toEqual([]);
  }, 600_000);
});
