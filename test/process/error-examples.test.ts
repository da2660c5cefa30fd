/** The examples of errors in /openapi.json are the service's own words. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { Stage } from './started';

jest.setTimeout(180_000);

const QUERY = `/*
id: 5f0c2d9e-0b51-4f4d-9d57-7e9f2a1c0001
name: shown
sandbox: true
params:
  project: { type: string, required: true, description: "Project reference, compared exactly." }
*/
WITH edge_logs AS (SELECT timestamp, id, event_message, metadata FROM raw_edge_logs WHERE project = @project),
auth_logs AS (SELECT timestamp, id, event_message, metadata FROM raw_auth_logs)
SELECT id FROM edge_logs
`;

interface Answer {
  readonly error: { readonly code: number; readonly requestId: string; readonly errors: readonly { reason: string }[] };
}

/** What provokes each error of those that a caller can provoke at will. */
const RUN = '/api/endpoints/query/shown';
const given = (values: Readonly<Record<string, string>>): string =>
  `${RUN}?${new URLSearchParams({ project: 'default', ...values }).toString()}`;
const PROVOKED: readonly (readonly [string, string, RequestInit])[] = [
  ['invalidParameter', RUN, {}],
  ['invalidQuery', given({ sql: 'SELECT id FROM edge_logs WHERE' }), {}],
  ['invalidLql', given({ lql: 'f:edge_logs "timeout' }), {}],
  ['unknownField', given({ sql: 'SELECT event_mesage FROM edge_logs' }), {}],
  ['unauthenticated', RUN, { headers: {} }],
  ['sandboxViolation', given({ sql: 'SELECT id FROM edge_log' }), {}],
  ['notFound', '/api/endpoints/query/none', {}],
  ['methodNotAllowed', RUN, { method: 'DELETE' }],
  ['notAcceptable', RUN, { headers: { 'X-API-KEY': 'k', Accept: 'image/png' } }],
  ['payloadTooLarge', RUN, { method: 'POST', body: JSON.stringify({ project: 'x'.repeat(300_000) }) }],
  ['uriTooLong', given({ x: 'x'.repeat(100_000) }), {}],
  ['headersTooLarge', RUN, { headers: { 'X-API-KEY': 'k', 'X-Long': 'x'.repeat(33_000) } }],
  ['unsupportedMediaType', RUN, { method: 'POST', body: 'x' }],
];

it('as far as a caller can provoke them', async () => {
  const stage = new Stage();
  try {
    const folder = stage.folder();
    writeFileSync(path.join(folder, 'queries/shown.sql'), QUERY);
    const base = await stage.start({ API_KEY: 'k' }, folder).ready();
    const document = (await (await fetch(`${base}/openapi.json`)).json()) as {
      components: { examples: Record<string, { value: Answer }> };
    };
    for (const [reason, at, init] of PROVOKED) {
      const { error } = (await (await fetch(base + at, { headers: { 'X-API-KEY': 'k' }, ...init })).json()) as Answer;
      const shown = document.components.examples[reason]?.value.error;
      expect({ ...error, requestId: shown?.requestId }).toEqual(shown);
    }
  } finally {
    await stage.end();
  }
});
