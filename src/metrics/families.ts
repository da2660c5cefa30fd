/**
 * Metrics that prom-client prints and that count by themselves: a labelled `inc` of prom-client takes about 0.4 µs and a
 * labelled `observe` 0.5 µs, most of it for building a text of the labels anew; adding to a cell that its user holds takes
 * a few nanoseconds (docs/decisions/own-counting.md).
 */
import {
  Counter,
  Gauge,
  Histogram,
  type LabelValues,
  type MetricObjectWithValues,
  type MetricType,
  type MetricValue,
} from 'prom-client';

import { Count, Spread } from './cells';
import { OTHER } from './table';

/** Labels that hold names which the operator gives. */
const NAMING: ReadonlySet<string> = new Set(['endpoint', 'key']);

type Labels = Readonly<Record<string, string>>;
type Declared = {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  readonly buckets?: readonly number[];
};
type Printed = MetricValue<string> & { readonly metricName?: string };

/** A metric as prom-client's registry takes it. */
function printed<Value extends Printed>(declared: Declared, values: Value[]): MetricObjectWithValues<Value> {
  const { name, help } = declared;
  // prom-client's enum is one of its types alone: while running, types are these words.
  const type = declared.type as unknown as MetricType;
  return { name, help, type, values, aggregator: 'sum', collect: () => undefined };
}

/** Sets of labels of one metric; those that come later go to the one in which every name is `other`. */
const MOST_SETS = 5000;

/** The cells of one metric by their labels. */
class Cells<Cell> {
  readonly #cells = new Map<string, { readonly labels: Labels; readonly cell: Cell }>();

  constructor(
    private readonly names: readonly string[],
    private readonly make: () => Cell,
  ) {}

  get(labels: Labels): Cell {
    const id = this.names.map((name) => labels[name]).join('\0');
    let held = this.#cells.get(id);
    if (held === undefined) {
      const rest = restOf(labels);
      if (this.#cells.size >= MOST_SETS && rest !== labels) return this.get(rest);
      held = { labels, cell: this.make() };
      this.#cells.set(id, held);
    }
    return held.cell;
  }

  all(): { readonly labels: Labels; readonly cell: Cell }[] {
    return [...this.#cells.values()];
  }
}

/** The labels with `other` for every name in them; the same object where that changes nothing. */
function restOf(labels: Labels): Labels {
  const rest = Object.entries(labels).map(([label, value]) => [label, NAMING.has(label) ? OTHER : value] as const);
  return rest.every(([label, value]) => labels[label] === value) ? labels : Object.fromEntries(rest);
}

export class CountFamily extends Counter {
  readonly #cells: Cells<Count>;

  constructor(private readonly declared: Declared) {
    super({ name: declared.name, help: declared.help, labelNames: declared.labels, registers: [] });
    this.#cells = new Cells(declared.labels, () => new Count());
  }

  cell(labels: Labels): Count {
    return this.#cells.get(labels);
  }

  override get(): Promise<MetricObjectWithValues<MetricValue<string>>> {
    const values = this.#cells.all().map(({ labels, cell }) => ({ labels, value: cell.value }));
    return Promise.resolve(printed(this.declared, values));
  }
}

export class SpreadFamily extends Histogram {
  readonly #cells: Cells<Spread>;

  constructor(private readonly declared: Declared) {
    const { name, help, labels, buckets = [] } = declared;
    super({ name, help, labelNames: labels, buckets: [...buckets], registers: [] });
    this.#cells = new Cells(labels, () => new Spread(buckets));
  }

  cell(labels: Labels): Spread {
    return this.#cells.get(labels);
  }

  override get(): Promise<MetricObjectWithValues<Printed>> {
    const values = this.#cells.all().flatMap(({ labels, cell }) => this.#print(labels, cell));
    return Promise.resolve(printed(this.declared, values));
  }

  /** What prom-client's registry asks a histogram for instead of `get`. */
  getForPromString(): Promise<MetricObjectWithValues<Printed>> {
    return this.get();
  }

  /** Buckets are cumulative where they are printed. */
  #print(labels: Labels, { bounds, counts, sum }: Spread): Printed[] {
    const { name } = this.declared;
    let below = 0;
    const printed: Printed[] = counts.map((count, i) => {
      below += count;
      const le = String(bounds[i] ?? '+Inf');
      return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: below };
    });
    printed.push({ metricName: `${name}_sum`, labels, value: sum });
    printed.push({ metricName: `${name}_count`, labels, value: below });
    return printed;
  }
}

/** Values that are asked for when they are printed. */
export type Reading = () => Iterable<readonly [LabelValues<string>, number]>;

export class ReadFamily extends Gauge {
  #read: Reading = () => [];

  constructor(private readonly declared: Declared) {
    super({ name: declared.name, help: declared.help, labelNames: declared.labels, registers: [] });
  }

  readBy(read: Reading): void {
    this.#read = read;
  }

  override get(): Promise<MetricObjectWithValues<MetricValue<string>>> {
    const values = [...this.#read()].map(([labels, value]) => ({ labels, value }));
    return Promise.resolve(printed(this.declared, values));
  }
}
