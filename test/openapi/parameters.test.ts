import fc from 'fast-check';

import { readValue } from '../../src/endpoints/values';
import type { Readers } from '../../src/openapi/described';
import { documentOf, forKey, operation, parameter, parameters } from './documents';
import { ALL, BARE, endpointOf, EVERYTHING, ON_BIGQUERY, ON_DUCKDB } from './endpoints';
import { validated } from './validated';

describe('parameters', () => {
  const document = documentOf();
  it.each([
    ['text', { type: 'string', maxLength: 4096 }, true],
    ['text_default', { type: 'string', maxLength: 4096, default: "it's" }, undefined],
    ['choice', { type: 'string', enum: ['<i>', "a'b", 'c&d'] }, true],
    ['choice_default', { type: 'string', enum: ['x', 'y'], default: 'y' }, undefined],
    ['n', { type: 'integer', format: 'int64', minimum: -5, maximum: 5 }, true],
    ['n_default', { type: 'integer', format: 'int64', default: 3 }, undefined],
    // JSON's numbers would round it: it is described in words.
    ['n_huge', { type: 'integer', format: 'int64' }, undefined],
    ['ratio', { type: 'number', format: 'double', minimum: 0, maximum: 1, default: 0.5 }, undefined],
    ['deep', { type: 'boolean' }, true],
    ['deep_default', { type: 'boolean', default: false }, undefined],
    ['day', { type: 'string', format: 'date', pattern: '^\\d{4}-\\d{2}-\\d{2}$' }, true],
  ])('%s', (name, schema, required) => {
    const found = parameter(document, EVERYTHING.name, name);
    expect(found?.schema).toEqual(schema);
    expect(found?.required).toBe(required);
    expect(found?.in).toBe('query');
  });

  it('say in words what a schema cannot', () => {
    expect(parameter(document, EVERYTHING.name, 'n_huge')?.description).toContain('9223372036854775807');
    expect(parameter(document, EVERYTHING.name, 'pattern')?.description).toContain('RE2');
    expect(parameter(document, 'logs.all', 'project')?.description).toBe('Project reference, compared exactly.');
  });

  it('say what a start is that a request leaves out, and that the answer names it; not where a key fixes it', () => {
    const left = 'Left out, it is 7 days before the last full hour.';
    expect(parameter(document, EVERYTHING.name, 'since_recent')?.description).toContain(`Newer rows alone. ISO 8601`);
    expect(parameter(document, EVERYTHING.name, 'since_recent')?.description).toContain(left);
    expect(parameter(document, EVERYTHING.name, 'since')?.description).not.toContain('Left out');
    const pins = new Map([['since_recent', '2026-01-01']]);
    const fixed = documentOf(ALL, forKey({ pins }), 'key');
    expect(parameter(fixed, EVERYTHING.name, 'since_recent')?.description).not.toContain('7 days');
    const resultOf = (name: string): string => JSON.stringify(operation(document, name).responses['200']);
    expect(resultOf(EVERYTHING.name)).toContain('#/components/headers/X-Default-Parameters');
    expect(resultOf('logs.all')).not.toContain('X-Default-Parameters');
  });

  it('say where a pattern is for some keys alone', () => {
    const described = (readers: Readers, name: string): string =>
      parameter(documentOf(ALL, readers, 'key'), name, name === EVERYTHING.name ? 'pattern' : 'project')?.description ??
      '';
    for (const name of [EVERYTHING.name, 'usage.api-counts']) {
      expect(described(forKey({ redact: true }), name)).toContain('--allow-sql');
      expect(described(forKey({ redact: true, allowSql: true }), name)).not.toContain('--allow-sql');
      expect(described(forKey({}), name)).not.toContain('--allow-sql');
      expect(described(ON_BIGQUERY, name)).not.toContain('--allow-sql');
    }
    const pinned = described(forKey({ redact: true, pins: new Map([['project', 'a']]) }), 'usage.api-counts');
    expect(pinned).not.toContain('--allow-sql');
  });

  it.each(['timestamp', 'date'] as const)('have a pattern for every %s that is read', (type) => {
    const endpoint = endpointOf(`/*\nid: ${BARE.id}\nname: x\nparams: { v: { type: ${type} } }\n*/\nSELECT @v AS v\n`);
    const pattern = new RegExp(parameter(documentOf([endpoint]), 'x', 'v')?.schema.pattern ?? 'none', 'u');
    const parts = '2026-09-30|T|t| |11:00|:59|.5|,123456|Z|z|+02:00|-0230| 05|+1|x||24:00|.1234567|0000-00-00'.split(
      '|',
    );
    const part = fc.constantFrom(...parts);
    let read = 0;
    let refused = 0;
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (some) => {
        const text = some.join('');
        if (text === '') return;
        const reading = readValue({ type, values: null, minimum: null, maximum: null }, text);
        if (reading.ok) {
          read++;
          expect([text, pattern.test(text)]).toEqual([text, true]);
        } else if (!pattern.test(text)) {
          refused++;
        }
      }),
      { numRuns: 3000, seed: 11 },
    );
    expect(read).toBeGreaterThan(5);
    expect(refused).toBeGreaterThan(500);
  });

  it('include sql and lql where the endpoint takes them, and dry_run on BigQuery', () => {
    const reserved = (readers: Readers, name: string): string[] =>
      parameters(operation(documentOf(ALL, readers), name)).flatMap((one) =>
        ['sql', 'lql', 'dry_run'].includes(one.name) ? one.name : [],
      );
    expect(reserved(ON_DUCKDB, 'logs.all')).toEqual(['sql', 'lql']);
    expect(reserved(ON_BIGQUERY, 'logs.all')).toEqual(['sql', 'lql', 'dry_run']);
    expect(reserved(ON_DUCKDB, 'bare')).toEqual([]);
    expect(reserved(ON_BIGQUERY, 'bare')).toEqual(['dry_run']);
    expect(reserved(ON_DUCKDB, 'masked')).toEqual(['sql', 'lql']);
    expect(reserved(forKey({}), 'masked')).toEqual(['dry_run']);
    expect(reserved(forKey({ allowSql: true }), 'masked')).toEqual(['sql', 'lql', 'dry_run']);
    expect(reserved(forKey({ redact: true }), 'logs.all')).toEqual(['dry_run']);
    expect(reserved(forKey({ pins: new Map([['project', 'x']]) }), 'logs.all')).toEqual(['sql', 'lql']);
    for (const readers of [ON_DUCKDB, ON_BIGQUERY, forKey({ redact: true })]) {
      const body = operation(documentOf(ALL, readers), 'logs.all', 'post').requestBody?.content['application/json'];
      const inBody = Object.keys(body?.schema.properties ?? {}).filter((name) =>
        ['sql', 'lql', 'dry_run'].includes(name),
      );
      expect(inBody).toEqual(reserved(readers, 'logs.all'));
    }
  });

  it('stand in the body of a POST, as JSON and as a form', async () => {
    const at = (type: string): string =>
      `/paths/~1api~1endpoints~1query~1${EVERYTHING.name}/post/requestBody/content/${type.replace('/', '~1')}/schema`;
    const least = {
      text: 'a',
      choice: '<i>',
      day: '2026-01-01',
      n: 1,
      ratio_required: 1.5,
      deep: true,
      kinds: ['x'],
      days: ['2026-01-01'],
    };
    const fits = [
      least,
      { ...least, n: '1', ratio_required: '1e3', deep: 'false', undeclared: [1] },
      { ...least, since: null, n_default: '', choice_optional: null, pattern: '' },
      { ...least, tags: ['a', 'b'], codes: [500, '599'] },
    ];
    const wrong = {
      n: [6, 1.5, 'one'],
      deep: ['yes'],
      choice: ['x'],
      text: [null, 1],
      since: ['yesterday'],
      sql: [1],
      kinds: [['z']],
      codes: [[99]],
    };
    const misfits = [
      { text: 'a' },
      ...Object.entries(wrong).flatMap(([name, values]) => values.map((value) => ({ ...least, [name]: value }))),
    ];
    const instances = [...fits, ...misfits].map((value) => ({ at: at('application/json'), value }));
    const [faults] = await validated([{ document, instances }]);
    expect(faults?.map((fault) => (fault as [string])[0])).toEqual(
      misfits.map((_, i) => `instance ${String(fits.length + i)}`),
    );
    const form = { document, instances: [{ at: at('application/x-www-form-urlencoded'), value: least }] };
    expect(await validated([form])).toEqual([[]]);
  });
});
