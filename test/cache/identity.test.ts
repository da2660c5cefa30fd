import { identify, type Question } from '../../src/cache/identity';

const QUESTION: Question = {
  endpointId: '11111111-aaaa-4000-8000-000000000001',
  revision: 'r',
  target: 't',
  parameters: [],
  query: null,
  redacted: false,
  fenced: false,
  representation: 'text/csv',
  isoTimestamps: false,
  escapeFormulas: true,
};

it('tells CSV with formulas escaped from CSV without: replicas and starts may be set otherwise', () => {
  expect(identify(QUESTION).hash).not.toBe(identify({ ...QUESTION, escapeFormulas: false }).hash);
  for (const representation of ['application/json', 'application/x-ndjson'] as const) {
    const [on, off] = [true, false].map((escapeFormulas) => identify({ ...QUESTION, representation, escapeFormulas }));
    expect(on).toEqual(off);
  }
});

it('shares no answer between a run that is fenced and one that is not', () => {
  expect(identify({ ...QUESTION, fenced: true }).hash).not.toBe(identify(QUESTION).hash);
});
