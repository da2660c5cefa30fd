import { z } from 'zod';

import { declarationSchema, type Settings, settingsSchema, type WrittenDeclaration } from './settings';
import { UUID } from './endpoint';

/** What an editor shows of a setting; the compiler asks for a missing one. */
const SETTINGS: Readonly<Record<keyof Settings, string>> = {
  id: 'A UUID that never changes; unique among the stored queries.',
  name: 'What callers write in the URL; unique among the stored queries, and no UUID.',
  description: 'For the catalogue, /docs and /openapi.json.',
  max_rows: 'Rows beyond are cut off. Default: 1000.',
  export: 'Most rows of an export, for keys with the right to export. Default: no exports.',
  tail: 'Has no effect any more: there are no live tails on BigQuery.',
  cache_ttl: 'Seconds for which a result is cached. Default: 0, not at all.',
  cache_warming: 'Seconds after which a result in use is refreshed; shorter than cache_ttl.',
  sandbox: 'Whether callers may send sql and lql over the tables that the WITH of the query defines. Default: false.',
  mcp: 'Whether it is a tool of its own over the Model Context Protocol. Default: false.',
  redact_pii: 'Whether IP and e-mail addresses are always redacted. Default: false.',
  strict_params:
    'A parameter that the endpoint does not know is refused with 400; otherwise it is named in X-Unknown-Parameters.',
  max_bytes_billed: 'Bytes that one run may bill on BigQuery. Default: MAX_BYTES_BILLED.',
  timeout: "Seconds from a request's arrival to its deadline. Default: QUERY_TIMEOUT.",
  log: 'The columns of time, message, severity and trace, where their names and types do not say it.',
  params: 'Parameters by name: each is an @name of the query.',
};

/** The same of a parameter. */
const DECLARATION: Readonly<Record<keyof WrittenDeclaration, string>> = {
  type: 'What values are, and what they are bound as; with [] a list of them, for IN UNNEST.',
  required: 'Whether a request without it is refused. Default: false.',
  description: 'For the catalogue, and for the error that asks for it.',
  default: 'Taken where a request says nothing; of a list its values.',
  default_lookback:
    'Of an optional timestamp: how long before now it is where a request says nothing, such as 24h or 7d.',
  values: 'The values of an enum.',
  min: 'The least value of an integer or number, also in a list.',
  max: 'The greatest value of an integer or number, also in a list.',
};

/** Written as text or number alike: a value is what stands there. */
const WRITTEN_VALUE: z.core.JSONSchema.BaseSchema = { type: ['string', 'number', 'boolean'] };

/**
 * The settings of a stored query as JSON Schema (draft 7, which every editor reads). What depends on several settings, or
 * on the SQL, `logquay check` says.
 */
export function settingsJsonSchema(): object {
  const schema = jsonSchemaOf(settingsSchema);
  const declaration = described(jsonSchemaOf(declarationSchema), DECLARATION);
  const properties = { ...declaration.properties };
  const list: z.core.JSONSchema.BaseSchema = { type: 'array', items: WRITTEN_VALUE };
  properties['default'] = { anyOf: [WRITTEN_VALUE, list], description: DECLARATION.default };
  properties['values'] = { ...list, description: DECLARATION.values };
  const { type, required, additionalProperties } = declaration;
  const settings = described(schema, SETTINGS);
  return {
    ...settings,
    title: 'Settings of a stored query of Logquay',
    properties: {
      ...settings.properties,
      params: {
        type: ['object', 'null'],
        additionalProperties: { type, properties, required, additionalProperties },
        description: SETTINGS.params,
      },
    },
  };
}

/** A schema of ours as JSON Schema: what YAML gives, in which whole numbers are integers, and UUIDs have any case. */
export function jsonSchemaOf(schema: z.ZodType): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(schema, {
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema instanceof z.ZodBigInt) {
        const { minValue, maxValue } = zodSchema;
        Object.assign(jsonSchema, { type: 'integer', ...bound('minimum', minValue), ...bound('maximum', maxValue) });
      }
      // JSON Schema's patterns have no flags.
      if (jsonSchema.pattern === UUID.source) jsonSchema.pattern = UUID.source.replaceAll('a-f', 'a-fA-F');
    },
  });
}

/** A bound that JSON's own numbers hold exactly. */
function bound(name: 'minimum' | 'maximum', value: bigint | null): object {
  return value === null || !Number.isSafeInteger(Number(value)) ? {} : { [name]: Number(value) };
}

function described(
  schema: z.core.JSONSchema.BaseSchema,
  descriptions: Readonly<Record<string, string>>,
): z.core.JSONSchema.BaseSchema {
  const properties = Object.entries(schema.properties ?? {}).map(([name, property]) => [
    name,
    { ...(typeof property === 'object' ? property : {}), description: descriptions[name] },
  ]);
  return { ...schema, properties: Object.fromEntries(properties) as Record<string, z.core.JSONSchema.BaseSchema> };
}
