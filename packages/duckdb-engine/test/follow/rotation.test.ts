/** Each row is there once through rotation, compression and kills between any two steps (rotation-model.ts). */
import { setTimeout as sleep } from 'node:timers/promises';

import { Random } from '../../../../test/dialect/random';
import { RotationModel } from './rotation-model';
import { cases } from '../../../../test/scale';

jest.setTimeout(600_000);

/** More, and others: `ROTATIONS=1000 SEED=7`. */
const RUNS = Number(process.env['ROTATIONS'] ?? cases(40));
const SEED = Number(process.env['SEED'] ?? 1);
const STEPS = 150;
/** Looks after the last step, until everything has to be there: some wait for seconds for what may turn out to be a copy. */
const LOOKS = 300;
/** Of these the last ones are shown. */
const SHOWN = 60;

it(`serves every row once in ${RUNS} histories`, async () => {
  for (let seed = SEED; seed < SEED + RUNS; seed++) {
    const random = new Random(seed);
    const model = await RotationModel.make(random);
    try {
      for (let step = 0; step < STEPS; step++) {
        const isComplete = await model.step();
        const doubled = model.rows.filter((row, i, all) => all.indexOf(row) !== i);
        if (isComplete && doubled.length > 0) throw new Error(`Doubled: ${doubled.join(', ')}`);
        if (random.chance(0.03)) model.kill();
      }
      await model.finish();
      const isWhole = (): boolean => [...model.rows].sort().join() === [...model.written].sort().join();
      for (let look = 0; look < LOOKS && !isWhole(); look++) {
        await model.look();
        await sleep(50);
      }
      expect([...model.rows].sort()).toEqual([...model.written].sort());
    } catch (error) {
      throw new Error(`Seed ${seed}:\n${model.steps.slice(-SHOWN).join('\n')}`, { cause: error });
    } finally {
      await model.remove();
    }
  }
});
