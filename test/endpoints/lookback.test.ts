/** `default_lookback`: what it may say, and the starts that it gives. */
import { readFileSync } from 'node:fs';

import { describeParameters, readMovingStarts, readParameters } from '../../src/endpoints/parameters';
import { hourOf, startBefore } from '../../src/endpoints/values';
import { check } from '../../src/endpoints/check';
import { readDefinition } from '../../src/endpoints/definition';
import { QueryFolder, storedQuery } from './folder';

const micros = (instant: string): bigint => BigInt(Date.parse(instant)) * 1000n;

const definitionOf = (declaration: string): ReturnType<typeof readDefinition> =>
  readDefinition(Buffer.from(storedQuery(1, 'x', `params:\n  p: { ${declaration} }`, 'SELECT @p AS p')));

function endpointOf(declaration: string) {
  const { endpoint, faults } = definitionOf(declaration);
  if (endpoint === null) throw new Error(JSON.stringify(faults));
  return endpoint;
}
const WEEK = endpointOf('type: timestamp, default_lookback: 7d');
const sent = (text: string) => [{ name: 'p', value: { kind: 'text', text } as const }];
const valueAt = (now: string, raw: ReturnType<typeof sent> = [], pins = new Map<string, string>()) =>
  readParameters(WEEK, raw, pins, micros(now))[0]?.value;

describe('a start that is left out', () => {
  it.each([
    ['2026-11-23T06:00:00.000Z', '2026-11-16T06:00:00.000000Z'],
    ['2026-11-23T06:59:59.999Z', '2026-11-16T06:00:00.000000Z'],
    ['2026-11-23T07:00:00.000Z', '2026-11-16T07:00:00.000000Z'],
    ['2026-03-01T00:30:00.000Z', '2026-02-22T00:00:00.000000Z'],
    ['1970-01-01T00:00:00.000Z', '1969-12-25T00:00:00.000000Z'],
    ['1969-12-31T23:59:59.999Z', '1969-12-24T23:00:00.000000Z'],
  ])('is that long before the full hour: at %s %s', (now, start) => {
    expect(valueAt(now)).toBe(start);
    expect(valueAt(now, sent(''))).toBe(start);
  });

  it.each([
    ['1h', '2026-11-23T05:00:00.000000Z'],
    ['36h', '2026-11-21T18:00:00.000000Z'],
    ['36500d', '1926-12-18T06:00:00.000000Z'],
  ])('goes back by hours and days: %s', (lookback, start) => {
    expect(startBefore(lookback, hourOf(micros('2026-11-23T06:30:00Z')))).toBe(start);
  });

  it('is no earlier than TIMESTAMP goes', () => {
    expect(startBefore('36500d', hourOf(micros('0050-01-01T00:00:00Z')))).toBe('0001-01-01T00:00:00.000000Z');
  });

  it('gives way to one that is sent or pinned, and moves on only where neither is', () => {
    const now = '2026-11-23T06:30:00Z';
    const pins = new Map([['p', '2026-01-01']]);
    expect(valueAt(now, sent('2025-01-01'))).toBe('2025-01-01T00:00:00.000000Z');
    expect(valueAt(now, [], pins)).toBe('2026-01-01T00:00:00.000000Z');
    const moving = (raw: ReturnType<typeof sent>, pinned = new Map<string, string>()) =>
      readMovingStarts(WEEK, raw, pinned, micros(now));
    expect(moving([])).toEqual({ names: ['p'], hour: hourOf(micros(now)) });
    expect(moving(sent(''))).toEqual(moving([]));
    expect(moving(sent('2025-01-01'))).toBeNull();
    expect(moving([], pins)).toBeNull();
    expect(readMovingStarts(endpointOf('type: timestamp'), [], new Map(), micros(now))).toBeNull();
  });

  it('is described to who may leave it out', () => {
    expect(describeParameters(WEEK, new Map())).toMatchObject([{ name: 'p', defaultLookback: '7d' }]);
    expect(JSON.stringify(describeParameters(WEEK, new Map([['p', 'x']])))).not.toContain('7d');
    expect(JSON.stringify(describeParameters(endpointOf('type: timestamp'), new Map()))).not.toContain('ookback');
  });
});

const DURATION = 'default_lookback must be a whole number of hours or days such as 24h or 7d, and at most 36500d';

describe('a declaration', () => {
  it.each([
    ['type: timestamp, default_lookback: 7', `${DURATION} (parameter "p")`],
    ['type: timestamp, default_lookback: 0d', `${DURATION} (parameter "p")`],
    ['type: timestamp, default_lookback: 7D', `${DURATION} (parameter "p")`],
    ['type: timestamp, default_lookback: 30m', `${DURATION} (parameter "p")`],
    ['type: timestamp, default_lookback: 36501d', `${DURATION} (parameter "p")`],
    ['type: timestamp, default_lookback: 876001h', `${DURATION} (parameter "p")`],
    ['type: timestamp, default_lookback: [7d]', `${DURATION} (parameter "p")`],
    ['type: string, default_lookback: 7d', 'parameter "p": only a timestamp has a default_lookback'],
    ['type: date, default_lookback: 7d', 'parameter "p": only a timestamp has a default_lookback'],
    ['type: "timestamp[]", default_lookback: 7d', 'parameter "p": only a timestamp has a default_lookback'],
    [
      'type: timestamp, required: true, default_lookback: 7d',
      'parameter "p": a required parameter never takes its default_lookback: remove one of the two',
    ],
    [
      'type: timestamp, default: 2026-01-01, default_lookback: 7d',
      'parameter "p": default and default_lookback exclude each other: remove one of the two',
    ],
  ])('is refused with its place: %s', (declaration, reason) => {
    const column = `  p: { ${declaration}`.indexOf('default_lookback') + 1;
    const { endpoint, faults } = definitionOf(declaration);
    expect(endpoint).toBeNull();
    expect(faults).toEqual([expect.objectContaining({ line: 5, column, reason })]);
  });

  it.each(['1h', '876000h', '7d', '36500d'])('takes %s', (lookback) => {
    expect(endpointOf(`type: timestamp, default_lookback: ${lookback}`).parameters[0]?.defaultLookback).toBe(lookback);
  });

  it('is checked by `check`, which shows the line', async () => {
    const sql = storedQuery(1, 'x', 'params:\n  p: { type: timestamp, default_lookback: week }', 'SELECT @p AS p');
    const folder = await QueryFolder.create({ 'x.sql': sql });
    try {
      const lines: string[] = [];
      expect(await check(folder.path, (line) => lines.push(line))).toBe(1);
      expect(lines).toEqual([
        `${folder.file('x.sql')}:5:25: ${DURATION} (parameter "p")`,
        '      p: { type: timestamp, default_lookback: week }',
        `    ${' '.repeat(24)}^`,
      ]);
    } finally {
      await folder.remove();
    }
  });

  it('is one line more in logs.all, as docs/supabase.md has it', () => {
    const [, line = ''] = /^ +(default_lookback: 7d)$/m.exec(readFileSync('docs/supabase.md', 'utf8')) ?? [];
    const stored = readFileSync('queries/logs.all.sql', 'utf8');
    const text = stored.replace(/( {2}iso_timestamp_start:\n {4}type: timestamp\n)/, `$1    ${line}\n`);
    expect(text).not.toBe(stored);
    const { endpoint, faults } = readDefinition(Buffer.from(text));
    expect(faults).toEqual([]);
    expect(endpoint?.parameters.map(({ name, defaultLookback }) => [name, defaultLookback])).toEqual([
      ['project', null],
      ['iso_timestamp_start', '7d'],
      ['iso_timestamp_end', null],
    ]);
  });
});
