import { readFileSync } from 'node:fs';
import path from 'node:path';

import type { Endpoint } from '../../src/endpoints/endpoint';
import type { Key } from '../../src/keys/key';
import type { Readers } from '../../src/openapi/described';
import { readDefinition } from '../../src/endpoints/definition';

/** A sound stored query of a text. */
export function endpointOf(text: string): Endpoint {
  const { endpoint, faults } = readDefinition(Buffer.from(text));
  if (endpoint === null) throw new Error(JSON.stringify(faults));
  return endpoint;
}

/** The stored queries of the repository. */
export const SHIPPED = ['logs.all', 'usage.api-counts'].map((name) =>
  endpointOf(readFileSync(path.join(__dirname, `../../queries/${name}.sql`), 'utf8')),
);

/** One parameter of each kind, with and without everything that a declaration may say. */
export const EVERYTHING = endpointOf(`/*
id: 22222222-aaaa-4000-8000-000000000001
name: every.thing-1_a
description: "<b>Bold</b> & \\"quoted\\" with \`code\` and </script><script>alert(1)</script>"
max_rows: 7
cache_ttl: 60
sandbox: true
params:
  text: { type: string, required: true, description: "<img src=x onerror=alert(1)>" }
  text_default: { type: string, default: "it's" }
  choice: { type: enum, required: true, values: ["<i>", "a'b", "c&d"] }
  choice_default: { type: enum, values: [x, y], default: y }
  choice_optional: { type: enum, values: [x, y] }
  pattern: { type: regex }
  since: { type: timestamp }
  since_default: { type: timestamp, default: "2026-01-01" }
  since_recent: { type: timestamp, default_lookback: 7d, description: Newer rows alone. }
  day: { type: date, required: true }
  n: { type: integer, required: true, min: -5, max: 5 }
  n_default: { type: integer, default: 3 }
  n_huge: { type: integer, default: "9223372036854775807" }
  ratio: { type: number, default: 0.5, min: 0, max: 1 }
  ratio_required: { type: number, required: true }
  deep: { type: boolean, required: true }
  deep_default: { type: boolean, default: false }
  tags: { type: "string[]", description: "More than <one>." }
  codes: { type: "integer[]", default: [500, 502], min: 100, max: 599 }
  kinds: { type: "enum[]", required: true, values: ["<i>", x] }
  flags: { type: "boolean[]" }
  days: { type: "date[]", required: true }
*/
WITH secret_cte AS (
  SELECT @text AS a, @text_default AS b, @choice AS c, @choice_default AS d, @choice_optional AS e, @pattern AS f,
    @since AS g, @since_default AS h, @day AS i, @n AS j, @n_default AS k, @n_huge AS l, @ratio AS m,
    @ratio_required AS n, @deep AS o, @deep_default AS p,
    @tags AS q, @codes AS r, @kinds AS s, @flags AS t, @days AS u, @since_recent AS v FROM raw_hidden_table
)
SELECT * FROM secret_cte
`);

/** Nothing but what must be there. */
export const BARE = endpointOf('/*\nid: 22222222-aaaa-4000-8000-000000000002\nname: bare\n*/\nSELECT 1 AS x\n');

/** One whose name is another's but for a sign. */
export const TWIN = endpointOf('/*\nid: 22222222-aaaa-4000-8000-000000000003\nname: logs-all\n*/\nSELECT 1 AS x\n');

/** Redacts whatever is asked. */
export const MASKED = endpointOf(
  '/*\nid: 22222222-aaaa-4000-8000-000000000004\nname: masked\nsandbox: true\nredact_pii: true\n*/\nWITH one AS (SELECT 1 AS x) SELECT x FROM one\n',
);

export const ALL = [...SHIPPED, EVERYTHING, BARE, TWIN, MASKED];

const NOBODY: Key = {
  name: 'nobody',
  endpoints: '*',
  pins: new Map(),
  redact: false,
  allowSql: false,
  export: false,
  rateLimit: null,
  dailyBytes: null,
  expires: null,
};

export function keyWith(what: Partial<Key>): Key {
  return { ...NOBODY, ...what };
}

export const ON_DUCKDB: Readers = { key: null, engine: { kind: 'duckdb', dryRun: false } };
export const ON_BIGQUERY: Readers = { key: null, engine: { kind: 'bigquery', dryRun: true } };
