/** Both stored endpoints on three million edge rows, against hand-written DuckDB SQL that gives the same rows. */
import { compare, report } from './measure';
import { openBothSides } from './edge-rows';
import { Stored } from './stored';

/** Of the counts that read most rows, and of all others. */
const GOALS = { daily: 0.35, others: 1.2 };
const ROUNDS = 11;

const NEWEST = (where: string): string => `
  SELECT to_json({id: id, timestamp: epoch_us(timestamp), event_message: event_message, metadata: metadata})::VARCHAR
  FROM (SELECT * FROM edge WHERE project = 'default' AND ${where} ORDER BY timestamp DESC LIMIT 100)`;

const COUNTS = (unit: string, hours: number): string => `
  SELECT to_json({timestamp: strftime(bucket, '%Y-%m-%dT%H:%M:%S'), rest: rest, storage: storage, auth: auth, realtime: realtime})::VARCHAR
  FROM (
    SELECT date_trunc('${unit}', timestamp) AS bucket,
      count(*) FILTER (regexp_matches(r.path, '/rest')) AS rest,
      count(*) FILTER (regexp_matches(r.path, '/storage')) AS storage,
      count(*) FILTER (regexp_matches(r.path, '/auth')) AS auth,
      count(*) FILTER (regexp_matches(r.path, '/realtime')) AS realtime
    FROM (SELECT timestamp, unnest(m.request) AS r FROM (
      SELECT timestamp, unnest(metadata) AS m FROM edge
      WHERE timestamp >= TIMESTAMP '2026-09-30 12:00:00' - INTERVAL ${hours} HOUR))
    WHERE regexp_matches(r.url, 'default')
    GROUP BY 1 ORDER BY 1)`;

export async function endpoints(print: (line: string) => void): Promise<void> {
  const sides = await openBothSides(print);
  const stored = await Stored.open(sides.engine);
  const fenced = await Stored.open(sides.engine, true);
  try {
    const one = async (name: string, ask: () => Promise<{ rows: readonly string[] }>, sql: string): Promise<void> => {
      const [ours, theirs] = [(await ask()).rows.length, (await sides.byHand(sql)).length];
      if (ours !== theirs || ours === 0) throw new Error(`${name}: ${ours} rows, by hand ${theirs}.`);
      const goal = name.includes('daily') ? GOALS.daily : GOALS.others;
      print(report(await compare(name, ask, () => sides.byHand(sql), ROUNDS), goal));
    };
    /** Unfenced, and as for a key that pins the project. */
    const both = async (name: string, endpoint: string, values: Record<string, string>, sql: string): Promise<void> => {
      await one(name, () => stored.run(endpoint, values), sql);
      await one(`${name}, fenced`, () => fenced.run(endpoint, values), sql);
    };
    const hour = {
      iso_timestamp_start: '2026-09-30T11:00:00.000000Z',
      iso_timestamp_end: '2026-09-30T12:00:00.000000Z',
    };
    await both('logs.all, no bounds', 'logs.all', { project: 'default' }, NEWEST('true'));
    await both(
      'logs.all, one hour',
      'logs.all',
      { project: 'default', ...hour },
      NEWEST(`timestamp > TIMESTAMP '2026-09-30 11:00:00' AND timestamp <= TIMESTAMP '2026-09-30 12:00:00'`),
    );
    for (const [interval, unit, hours] of [
      ['minutely', 'minute', 1],
      ['1day', 'hour', 24],
      ['daily', 'day', 168],
    ] as const) {
      const values = { interval, project: 'default' };
      await both(`usage.api-counts, ${interval}`, 'usage.api-counts', values, COUNTS(unit, hours));
    }
  } finally {
    await stored.close();
    await fenced.close();
    await sides.close();
  }
}
