import { identify, type Question } from '../../src/cache/identity';

const question: Question = {
  endpointId: 'e',
  revision: 'r',
  target: 't',
  parameters: [{ name: 'project', type: 'STRING', value: 'default' }],
  query: { language: 'sql', text: 'select 1' },
  fenced: false,
  redacted: false,
  representation: 'application/json',
};

it('shares no answer between a run that is fenced and one that is not', () => {
  const open = identify(question);
  const fenced = identify({ ...question, fenced: true });
  expect(fenced.hash).not.toBe(open.hash);
  expect(fenced.text).not.toBe(open.text);
});
