/** What a stock stack sends, and how Studio asks it for its logs. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { parse } from 'yaml';

const ROOT = path.join(__dirname, '../../..');

export const PRIVATE = 'private-token-of-the-stack';
export const PUBLIC = 'public-token-of-the-stack';

export interface StackEvent {
  readonly event_message: string;
  readonly metadata?: object;
}

const read = (file: string): string => readFileSync(file, 'utf8');

/** By source: the events that Vector's transforms make of `lines.json` (`pipeline.py`). */
export const BATCHES = JSON.parse(read(path.join(__dirname, 'batches.json'))) as Record<string, StackEvent[]>;

/** Of the service in the override of the compose file. */
export const ANALYTICS = (
  parse(read(path.join(ROOT, 'docker-compose.supabase.yml'))) as {
    services: {
      analytics: { environment: Record<string, string>; healthcheck: { test: string[] }; volumes: string[] };
    };
  }
).services.analytics;

/** The environment that the service has in the stack, with a free port and with folders below that of the process. */
export const STACK: Readonly<Record<string, string>> = {
  ...ANALYTICS.environment,
  PORT: '0',
  HOST: '',
  DATA_DIR: 'logs',
  CACHE_DIR: 'cache',
  LOGFLARE_SINGLE_TENANT: 'true',
  LOGFLARE_SUPABASE_MODE: 'true',
  LOGFLARE_PRIVATE_ACCESS_TOKEN: PRIVATE,
  LOGFLARE_PUBLIC_ACCESS_TOKEN: PUBLIC,
};

/** As one of Vector's sinks sends. @returns the status */
export async function send(base: string, source: string, events: readonly StackEvent[]): Promise<number> {
  const response = await fetch(`${base}/api/logs?source_name=${source}`, {
    method: 'POST',
    headers: { 'X-API-KEY': PUBLIC, 'Content-Type': 'application/json' },
    body: JSON.stringify(events),
  });
  await response.arrayBuffer();
  return response.status;
}

/** As Studio's server asks. @throws where the status is not 200 */
export async function ask(
  base: string,
  endpoint: string,
  parameters: Readonly<Record<string, string>>,
): Promise<Record<string, unknown>> {
  const query = new URLSearchParams({ project: 'default', ...parameters }).toString();
  const response = await fetch(`${base}/api/endpoints/query/${endpoint}?${query}`, {
    headers: { 'x-api-key': PRIVATE, 'Content-Type': 'application/json', Accept: 'application/json' },
  });
  if (response.status !== 200) throw new Error(`${endpoint} is answered ${String(response.status)}.`);
  return (await response.json()) as Record<string, unknown>;
}
