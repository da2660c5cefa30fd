/** Which runs are fenced, and that a fenced one shares nothing with one that is not. */
import request from 'supertest';

import { ScriptedEngine, serve, type Served } from './served';

const PATH = '/api/endpoints/query/test.plain';

let engine: ScriptedEngine;
let served: Served;
beforeEach(async () => {
  engine = new ScriptedEngine();
  served = await serve({ engine });
});
afterEach(() => served.close());

const ask = (key: string): Promise<request.Response> =>
  request(served.server).get(PATH).query({ project: 'abc' }).set('x-api-key', key).then();

test('a key with pins is fenced, one without could ask for every row anyway', async () => {
  await ask('pinned');
  await ask('other');
  const [pinned, other] = engine.queries;
  expect(pinned?.fence).toMatchObject({ consumer: null });
  expect(other?.fence).toBeNull();
});

test('rows without an order are put into one that tells nothing of rows between them', async () => {
  engine.rows = ['{"id":2}', '{"id":1}', '{"id":3}'];
  const ids = (answer: request.Response): unknown =>
    (answer.body as { result: { id: number }[] }).result.map(({ id }) => id);
  expect(ids(await ask('pinned'))).toEqual([1, 2, 3]);
  expect(ids(await ask('other'))).toEqual([2, 1, 3]);
});
