/** The text for Prometheus, read by Prometheus' own linter: Debian's package `prometheus` has it, which CI installs. */
import { execFileSync, spawn } from 'node:child_process';

import { Metrics } from '../../src/metrics/metrics';
import { type CounterId, type GaugeId, type HistogramId, LABELS, METRICS } from '../../src/metrics/table';

const TOOL = process.env.PROMTOOL ?? 'promtool';

function isThere(): boolean {
  try {
    execFileSync(TOOL, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const withTool = isThere() ? it : it.skip;

/** A value of each label that a metric has. */
function labelsOf(labels: readonly (keyof typeof LABELS)[]): Record<string, string> {
  return Object.fromEntries(
    labels.map((label) => {
      const values: readonly string[] | 'names' = LABELS[label];
      return [label, values === 'names' ? 'name' : (values[0] ?? '')];
    }),
  );
}

/** The text with a value of every metric that there is. */
function everything(): Promise<string> {
  const metrics = new Metrics();
  for (const [id, { type, labels }] of Object.entries(METRICS)) {
    const given = labelsOf(labels) as never;
    if (type === 'counter') metrics.count(id as CounterId, given);
    if (type === 'histogram') metrics.observe(id as HistogramId, given, 0.2);
    if (type === 'gauge') metrics.read(id as GaugeId, () => [[given, 1]]);
  }
  return metrics.text();
}

/** What the linter says, and its exit code: 3 for names that it objects to. */
async function lint(text: string): Promise<readonly [code: number | null, said: string]> {
  const child = spawn(TOOL, ['check', 'metrics']);
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part) => (said += String(part)));
  child.stdin.end(text);
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return [code, said];
}

withTool('promtool objects to nothing', async () => {
  const text = await everything();
  for (const { name } of Object.values(METRICS)) expect(text).toMatch(new RegExp(`^${name}`, 'm'));
  expect(await lint(text)).toEqual([0, '']);
});

withTool('promtool objects to what it should', async () => {
  const [code, said] = await lint('# HELP lag_seconds Lag\n# TYPE lag_seconds gauge\nlag_seconds{quantile="0.5"} 1\n');
  expect([code, said]).toEqual([3, expect.stringContaining('quantile')]);
});

it('names follow the rules of Prometheus and OpenTelemetry', () => {
  // https://prometheus.io/docs/practices/naming: base units at the end, before _total; a ratio says so.
  const units = /_(seconds|bytes|ratio|info|total)$/;
  for (const { name, type, help } of Object.values(METRICS)) {
    expect(name).not.toMatch(/_(ms|milliseconds|microseconds|minutes|kb|mb|percent|count|sum|bucket)(_|$)/);
    expect([name, /ratio|part of|0 to 1/i.test(help) === name.endsWith('_ratio')]).toEqual([name, true]);
    if (type === 'histogram') expect(name).toMatch(units);
  }
});
