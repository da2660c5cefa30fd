import Ajv from 'ajv';
import { parse } from 'yaml';

import { testFileSchema } from '../../src/cli/endpoint-tests/test-file';
import { declarationSchema, readSettings, settingsSchema } from '../../src/endpoints/settings';
import { logquay } from '../cli/command-line';
import { uuid } from './folder';

interface JsonSchema {
  readonly description?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
}

async function schemaOf(...args: readonly string[]): Promise<JsonSchema> {
  const { code, out, notes } = await logquay(['schema', ...args]);
  expect([code, notes]).toEqual([0, []]);
  return JSON.parse(out.join('\n')) as JsonSchema;
}

/** Whether an editor that reads the schema accepts the YAML. */
async function accepts(yaml: string, ...args: readonly string[]): Promise<boolean> {
  // Strict: a schema that holds an unknown word is a mistake of ours.
  return new Ajv({ strictTypes: false }).validate(await schemaOf(...args), parse(yaml));
}

const HEAD = `id: ${uuid(1)}\nname: a\n`;

describe('the JSON Schema of settings', () => {
  it('has every setting and every member of a declaration, described', async () => {
    const { properties = {}, required } = await schemaOf();
    expect(Object.keys(properties)).toEqual(Object.keys(settingsSchema.shape));
    expect(required).toEqual(['id', 'name']);
    const parameter = properties['params']?.additionalProperties as JsonSchema;
    expect(Object.keys(parameter.properties ?? {})).toEqual(Object.keys(declarationSchema.shape));
    for (const one of [properties, parameter.properties ?? {}].flatMap(Object.values<JsonSchema>)) {
      expect(one.description).toMatch(/^[A-Z].*\.$/);
    }
  });

  it.each([
    [HEAD],
    [`id: ${uuid(10).toUpperCase().replace('0000-4', 'ABCD-4')}\nname: a\n`],
    [`${HEAD}max_rows: 10000\n`],
    [`${HEAD}max_rows: 10001\n`],
    [`${HEAD}max_rows: 0\n`],
    [`${HEAD}max_rows: many\n`],
    [`${HEAD}max_rows: 1.5\n`],
    [`${HEAD}max_rows: null\n`],
    [`${HEAD}cache_ttl: -1\n`],
    [`${HEAD}sandbox: yes\n`],
    [`${HEAD}sandbox: true\n`],
    [`${HEAD}cache: 5\n`],
    ['name: a\n'],
    ['id: 1\nname: a\n'],
    [`id: ${uuid(1)}\nname: -a\n`],
    [`${HEAD}params: { p: { type: string, default: 007 } }\n`],
    [`${HEAD}params: { p: { type: enum, values: [1, 1.50, yes, true] } }\n`],
    [`${HEAD}params: { p: { type: enum, values: one } }\n`],
    [`${HEAD}params: { p: { type: text } }\n`],
    [`${HEAD}params: { p: { required: true } }\n`],
    [`${HEAD}params: { p: { type: integer, min: 1, max: 2 } }\n`],
    [`${HEAD}params: { p: { type: integer, min: one } }\n`],
    [`${HEAD}params: { p: { type: string, lenght: 1 } }\n`],
    [`${HEAD}params: [p]\n`],
  ])('says of %j what `check` says', async (yaml) => {
    const { faults } = readSettings(`/*\n${yaml}*/\nSELECT 1`);
    expect([await accepts(yaml), faults]).toEqual([faults.length === 0, faults]);
  });
});

describe('the JSON Schema of files of tests', () => {
  it.each([
    ['tests: []'],
    ['tests: [{ name: a, row: [] }]'],
    ['tests: [{ name: a, error: oops }]'],
    ['tests: [{ name: a, error: { reason: notFound, line: 1 } }]'],
    ['tests: [{ name: a, params: { p: [1, true, x, 1.5] }, order: any }]'],
    ['tests: [{ name: a, params: { p: {} } }]'],
    ['tests: [{ name: a, order: some }]'],
    ['tables: { t: { file: a } }\ntests: [{ name: a }]'],
    ['tables: { t: { flie: a } }\ntests: [{ name: a }]'],
  ])('says of %j what the command says', async (yaml) => {
    const right = testFileSchema.safeParse(parse(yaml, { intAsBigInt: true })).success;
    expect(await accepts(yaml, '--tests')).toBe(right);
  });
});
