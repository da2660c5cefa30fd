import { Health } from '../../src/health/health';

it('holds what is impaired, since when, and forgets what has recovered', () => {
  let now = 1000;
  const health = new Health(() => now);
  expect(health.degradations).toEqual([]);
  health.report('keys_file', 'It cannot be read.');
  now = 2000;
  health.report('keys_file', 'It cannot be read, for another reason.');
  health.report('log', 'The disk is full.');
  expect(health.degradations).toEqual([
    { component: 'keys_file', message: 'It cannot be read, for another reason.', since: 1000 },
    { component: 'log', message: 'The disk is full.', since: 2000 },
  ]);
  health.report('keys_file', null);
  health.report('keys_file', null);
  expect(health.degradations.map(({ component }) => component)).toEqual(['log']);
});
