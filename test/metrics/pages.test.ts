/** What people read and load about metrics, held to the table of metrics. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { parse } from 'yaml';

import { ERRORS } from '../../src/errors';
import { LABELS, METRICS } from '../../src/metrics/table';

const read = (file: string): string => readFileSync(path.join(__dirname, '../../docs', file), 'utf8');

const DECLARED = Object.values(METRICS);
/** The labels of each series, by its name. */
const LABELS_OF = new Map<string, readonly string[]>(
  DECLARED.flatMap(({ name, type, labels }): [string, readonly string[]][] => {
    if (type !== 'histogram') return [[name, labels]];
    return [
      [`${name}_bucket`, [...labels, 'le']],
      [`${name}_sum`, labels],
      [`${name}_count`, labels],
    ];
  }),
);

/** Labels that Prometheus itself sets. */
const OF_PROMETHEUS = ['job', 'instance'];

/** What is wrong with an expression of PromQL: metrics, labels and values that there are not, brackets that do not close. */
function faultsOf(expression: string): string[] {
  const faults: string[] = [];
  const used = [...expression.matchAll(/\b(logquay_\w+)(\{[^}]*\})?/g)];
  if (used.length === 0 && !expression.startsWith('up{')) faults.push('names no metric');
  const known = new Set<string>(OF_PROMETHEUS);
  for (const [, name = '', selector = ''] of used) {
    const labels = LABELS_OF.get(name);
    if (labels === undefined) faults.push(`there is no ${name}`);
    for (const label of labels ?? []) known.add(label);
    for (const [, label = '', operator = '', value = ''] of selector.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)) {
      if (OF_PROMETHEUS.includes(label)) continue;
      if (!(labels ?? []).includes(label)) faults.push(`${name} has no label ${label}`);
      const values: readonly string[] | 'names' = label === 'le' ? 'names' : LABELS[label as keyof typeof LABELS];
      if (values === 'names' || value.startsWith('$')) continue;
      const matches = operator.endsWith('~') ? new RegExp(`^(?:${value})$`) : { test: (one: string) => one === value };
      if (!values.some((one) => matches.test(one))) faults.push(`${name} has no ${label} like ${value}`);
    }
  }
  for (const [, list = ''] of expression.matchAll(/\b(?:by|without) \(([^)]*)\)/g)) {
    for (const label of list.split(',').map((one) => one.trim())) {
      if (!known.has(label)) faults.push(`nothing has the label ${label}`);
    }
  }
  for (const [open, close] of [
    ['(', ')'],
    ['{', '}'],
    ['[', ']'],
  ] as const) {
    if (expression.split(open).length !== expression.split(close).length)
      faults.push(`${open} and ${close} do not match`);
  }
  // Counters are of no use but by their growth, and gauges have none.
  for (const [, outer, name = ''] of expression.matchAll(/(rate|increase)\((logquay_[a-z_]+)/g)) {
    const gauge = DECLARED.some((one) => one.name === name && one.type === 'gauge');
    if (gauge) faults.push(`${outer ?? ''} of the gauge ${name}`);
  }
  return faults;
}

describe('the metrics of docs/operations.md', () => {
  const page = read('operations.md');
  const rows = (heading: string): string[][] =>
    (page.split(new RegExp(`^### ${heading}$`, 'm'))[1]?.split(/^##/m)[0] ?? '')
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .map((line) =>
        line
          .split(/(?<!\\)\|/)
          .slice(1, -1)
          .map((cell) => cell.trim()),
      );
  const words = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, word]) => word ?? '');

  it('lists every metric as it is declared, and no other', () => {
    expect(rows('All metrics')).toEqual(
      DECLARED.map(({ name, type, labels, help }) => [
        `\`${name}\``,
        type,
        labels.map((label) => `\`${label}\``).join(', '),
        help,
      ]),
    );
  });

  it('lists every label with its values', () => {
    const documented = Object.fromEntries(rows('Labels').map(([label, values]) => [words(label)[0], words(values)]));
    expect(Object.keys(documented)).toEqual(Object.keys(LABELS));
    for (const [label, values] of Object.entries(LABELS)) {
      if (values === 'names') continue;
      const others = label === 'reason' || label === 'result' ? Object.keys(ERRORS) : [];
      expect([label, [...(documented[label] ?? []), ...others]]).toEqual([label, [...values]]);
    }
  });

  it('names no metric elsewhere that there is not', () => {
    const named = [...page.matchAll(/`(logquay_\w+)/g)].map(([, name]) => name ?? '');
    const known = new Set<string>([...LABELS_OF.keys(), ...DECLARED.map(({ name }) => name)]);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });
});

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

describe('docs/alerts.yml', () => {
  const { groups } = parse(read('alerts.yml')) as { groups: { name: string; rules: Rule[] }[] };
  const rules = groups.flatMap((group) => group.rules);

  it.each(rules.map((rule) => [rule.alert, rule] as const))('%s is sound', (name, rule) => {
    expect(faultsOf(rule.expr)).toEqual([]);
    expect(name).toMatch(/^Logquay[A-Z][A-Za-z]+$/);
    expect(rule.for ?? '1m').toMatch(/^\d+[smh]$/);
    expect(['info', 'warning', 'critical']).toContain(rule.labels.severity);
    expect(rule.annotations.runbook).toBe(`docs/operations.md#${name.toLowerCase()}`);
    // What a summary names is there after the aggregation, or is the sample's.
    const grouped = /sum by \(([^)]*)\)|max by \(([^)]*)\)|min by \(([^)]*)\)/.exec(rule.expr);
    const labels = (grouped?.slice(1).find(Boolean) ?? (rule.expr.startsWith('up{') ? 'instance' : '')).split(', ');
    for (const [, label] of rule.annotations.summary.matchAll(/\$labels\.(\w+)/g)) expect(labels).toContain(label);
  });

  it('has a section of the runbook for each alert, and no other', () => {
    const runbook =
      read('operations.md')
        .split(/^## Runbook$/m)[1]
        ?.split(/^## /m)[0] ?? '';
    const sections = [...runbook.matchAll(/^### (.+)$/gm)].map(([, title]) => title);
    expect(sections).toEqual(rules.map(({ alert }) => alert));
    const named = [...read('operations.md').matchAll(/\bLogquay[A-Z]\w+/g)].map(([name]) => name);
    expect(named.filter((name) => !sections.includes(name))).toEqual([]);
  });
});

interface Variable {
  readonly name: string;
  readonly type: string;
  readonly query: string | { readonly query: string };
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number };
  readonly datasource?: { readonly type: string; readonly uid: string };
  readonly targets?: readonly { readonly refId: string; readonly expr: string; readonly legendFormat: string }[];
}

describe('docs/grafana-dashboard.json', () => {
  const dashboard = JSON.parse(read('grafana-dashboard.json')) as {
    readonly uid: string;
    readonly title: string;
    readonly schemaVersion: number;
    readonly templating: { readonly list: readonly Variable[] };
    readonly time: { readonly from: string; readonly to: string };
    readonly panels: readonly Panel[];
  };
  const { panels } = dashboard;
  const charts = panels.filter(({ type }) => type !== 'row');
  const variables = dashboard.templating.list.map(({ name }) => name);

  it.each(charts.map((panel) => [panel.title, panel] as const))(
    '%s asks for what there is',
    (_title, { targets = [] }) => {
      expect(targets.length).toBeGreaterThan(0);
      expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
      for (const { expr, legendFormat } of targets) {
        expect(faultsOf(expr)).toEqual([]);
        const used = [...expr.matchAll(/\$(\w+)/g)].map(([, name]) => name ?? '');
        expect(used.filter((name) => !variables.includes(name) && name !== '__rate_interval')).toEqual([]);
        for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) {
          // A legend can only tell labels that the aggregation has left.
          const left = /^(?:histogram_quantile\([\d.]+, )?(?:sum|max|min) by \(([^)]*)\)/.exec(expr)?.[1];
          expect([expr, left === undefined || left.split(', ').includes(label)]).toEqual([expr, true]);
        }
      }
    },
  );

  it('shows every metric', () => {
    const shown = charts.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)).join('\n');
    expect(DECLARED.filter(({ name }) => !shown.includes(name)).map(({ name }) => name)).toEqual([]);
  });
});
