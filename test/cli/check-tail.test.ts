/** What `logquay check` says of settings that have no effect. */
import { QueryFolder, storedQuery } from '../endpoints/folder';
import { logquay } from './command-line';

const EDGE = 'SELECT id, timestamp FROM raw_edge_logs';
const COUNTED = 'WITH edge_logs AS (SELECT COUNT(*) AS n FROM raw_edge_logs) SELECT n FROM edge_logs';
const WARNING = 'warning: tail has no effect.';

it.each([
  ['rows of a table', 'tail: 10', EDGE, null],
  ['no live tail', '', 'SELECT COUNT(*) AS n FROM raw_edge_logs', null],
  ['a count', 'tail: 10', 'SELECT COUNT(*) AS n FROM raw_edge_logs', 'COUNT over rows has no place in a live tail'],
  ['nothing of a table', 'tail: 10', 'SELECT 1 AS one', 'SELECT without FROM has no place in a live tail'],
  [
    'a count of rows that callers may query',
    'tail: 10\nsandbox: true',
    `WITH edge_logs AS (${EDGE}) SELECT COUNT(*) AS n FROM edge_logs`,
    null,
  ],
  [
    'a count of rows that callers may not query',
    'tail: 10',
    `WITH edge_logs AS (${EDGE}) SELECT COUNT(*) AS n FROM edge_logs`,
    'COUNT over rows has no place in a live tail',
  ],
  ['nothing but counts', 'tail: 10\nsandbox: true', COUNTED, 'COUNT over rows has no place in a live tail'],
])('a tail of %s', async (_what, settings, sql, warning) => {
  const folder = await QueryFolder.create({ 'a.sql': storedQuery(1, 'a', settings, sql) });
  try {
    for (const environment of [{}, { ENGINE: 'bigquery', BIGQUERY_PROJECT_ID: 'test', BIGQUERY_DATASET: 'logs' }]) {
      const { code, out } = await logquay(['check', folder.path], environment);
      const found = out.filter((line) => line.includes(WARNING));
      const wanted = `${folder.file('a.sql')}: ${WARNING} ${warning ?? ''}`;
      expect([code, found]).toEqual([0, warning === null ? [] : [expect.stringContaining(wanted)]]);
    }
  } finally {
    await folder.remove();
  }
});
