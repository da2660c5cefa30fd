import { Metrics, NameBound } from '../../src/metrics/metrics';
import { RequestMeter } from '../../src/metrics/readings';
import { LABELS, METRICS } from '../../src/metrics/table';

/** The values of a metric by their labels, as Prometheus would read them. */
async function valuesOf(metrics: Metrics, name: string): Promise<Record<string, number>> {
  const lines = (await metrics.text()).split('\n').filter((line) => !line.startsWith('#') && line.startsWith(name));
  return Object.fromEntries(
    lines
      .map((line) => /^(\w+)(\{.*\})? (\S+)$/.exec(line))
      .filter((match) => match?.[1] === name)
      .map((match) => [match?.[2] ?? '', Number(match?.[3])]),
  );
}

describe('the text for Prometheus', () => {
  it('has every metric with its help and type, each line well-formed', async () => {
    const metrics = new Metrics();
    metrics.count('engineRuns', { endpoint: 'a', kind: 'run', result: 'ok' });
    metrics.observe('engineDuration', { endpoint: 'a' }, 0.2);
    metrics.read('admissionRunning', () => [[{}, 3]]);
    const text = await metrics.text();
    for (const { name, type, help } of Object.values(METRICS)) {
      expect(text).toContain(`# HELP ${name} ${help}\n# TYPE ${name} ${type}`);
    }
    for (const line of text.split('\n')) {
      expect(line).toMatch(/^$|^# (HELP|TYPE) |^[a-z_]+(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? [-+.\de]+(Inf)?$/);
    }
    expect(metrics.contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
  });
});

describe('what is declared', () => {
  it('has names by Prometheus’ conventions, each once', () => {
    const declared = Object.values(METRICS);
    expect(new Set(declared.map(({ name }) => name)).size).toBe(declared.length);
    for (const { name, type } of declared) {
      expect(name).toMatch(/^logquay_[a-z]+(_[a-z]+)*$/);
      expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter']);
    }
  });

  it('has labels whose values are in closed lists, or names that the operator gives', () => {
    const names = Object.entries(LABELS).flatMap(([label, values]) => (values === 'names' ? [label] : []));
    expect(names).toEqual(['route', 'endpoint', 'key', 'version', 'node', 'table']);
    for (const values of Object.values(LABELS)) {
      if (values !== 'names') expect(new Set(values).size).toBe(values.length);
    }
  });
});

describe('names', () => {
  it('are labels of their own until there are too many', () => {
    const bound = new NameBound(2);
    expect(['a', 'b', 'c', 'a', 'd'].map((name) => bound.label(name))).toEqual(['a', 'b', 'other', 'a', 'other']);
  });

  it('that come and go do not add up, in the metrics or in what counts requests', async () => {
    const metrics = new Metrics();
    const meter = new RequestMeter(metrics);
    for (let i = 0; i < 5000; i++) {
      const [endpoint, key] = [`endpoint-${String(i)}`, `key-${String(i % 777)}`];
      meter.count({ route: '/r', endpoint, key, status: 200, cache: 'hit', milliseconds: 1, phases: [], bytes: 10 });
      metrics.count('bytesBilled', { endpoint, key });
    }
    const requests = await valuesOf(metrics, 'logquay_requests_total');
    expect(Object.keys(requests).length).toBe(201);
    expect(requests['{route="/r",endpoint="other",status="200",reason="none"}']).toBe(4800);
    expect(Object.values(requests).reduce((a, b) => a + b)).toBe(5000);
    const cached = await valuesOf(metrics, 'logquay_cache_requests_total');
    expect(Object.values(cached).reduce((a, b) => a + b)).toBe(5000);
    const keys = await valuesOf(metrics, 'logquay_key_requests_total');
    expect(Object.keys(keys).length).toBe(201);
    expect(Object.keys(await valuesOf(metrics, 'logquay_bytes_billed_total')).length).toBeLessThanOrEqual(1000);
  });
});
