import type { Endpoint } from '../../endpoints/endpoint';
import { TABLES_NAME } from '../../endpoints/tables-endpoint';
import type { StartKey } from '../../keys/key-ring';
import type { TableStatus } from '@logquay/duckdb-engine/contract';

export interface WelcomeFacts {
  readonly host: string;
  readonly port: number;
  readonly endpoints: readonly Endpoint[];
  /** Of the data folder, those that have rows; null: there is none, or no endpoint over all of them. */
  readonly tables: readonly Pick<TableStatus, 'table' | 'rows'>[] | null;
  /** null: the operator has made the keys. */
  readonly startKey: StartKey | null;
  /** Whether API_KEY is one of them. */
  readonly apiKey: boolean;
  /** Whether there is a page for people. */
  readonly docs: boolean;
  /** Whether there is the explorer. */
  readonly explorer: boolean;
  /** Whether a person reads this: a secret goes to a terminal only, never to where output is kept. */
  readonly terminal: boolean;
}

/** An endpoint that the sample logs answer, with parameters that find rows. */
const SHOWN = { name: 'logs.all', query: '?project=default' };

/** Tables that are named, those with most rows. */
const MOST_TABLES = 10;

/** What is printed when the service is ready: where it listens, and a curl line that works as pasted. */
export function welcome(facts: WelcomeFacts): string {
  const base = `http://${urlHost(facts.host)}:${String(facts.port)}`;
  const shown = facts.tables !== null && ownsKey(facts) ? { name: TABLES_NAME, query: '' } : SHOWN;
  const path = facts.endpoints.some(({ name }) => name === shown.name)
    ? `/api/endpoints/query/${shown.name}${shown.query}`
    : '/api/endpoints';
  const curl = `Logquay answers at ${base}. Try:\n\n  curl -H "X-API-KEY: ${shownKey(facts)}" '${base}${path}'\n`;
  const pages = [
    ...(facts.tables === null ? [] : [tablesLine(facts.tables)]),
    ...(facts.explorer ? [`Look at the logs: ${base}/explore`] : []),
    ...(facts.docs ? [`Every endpoint, with its parameters: ${base}/docs`] : []),
  ];
  return pages.length === 0 ? curl : `${curl}\n${pages.join('\n')}\n`;
}

/** Whether the key of the line is one that may read every table. */
function ownsKey({ startKey, apiKey }: WelcomeFacts): boolean {
  return startKey !== null || apiKey;
}

function tablesLine(tables: NonNullable<WelcomeFacts['tables']>): string {
  if (tables.length === 0) return 'DATA_DIR has no rows yet: files are taken up as they come.';
  const largest = [...tables].sort((a, b) => b.rows - a.rows);
  const named = largest.slice(0, MOST_TABLES).map(({ table, rows }) => `${table} (${rows.toLocaleString('en')})`);
  const more = largest.length - named.length;
  return `Tables with rows: ${named.join(', ')}${more > 0 ? ` and ${String(more)} more` : ''}`;
}

function shownKey({ startKey, apiKey, terminal }: WelcomeFacts): string {
  if (startKey !== null) return terminal ? startKey.secret : `$(cat ${quoted(startKey.file)})`;
  return apiKey ? '$API_KEY' : '$KEY';
}

/** As one word of a shell, inside double quotes and `$( )`. */
function quoted(file: string): string {
  return /^[\w./-]+$/.test(file) ? file : `'${file.replaceAll("'", `'\\''`)}'`;
}

/** Where a person on this machine reaches what listens on `host`. */
function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
