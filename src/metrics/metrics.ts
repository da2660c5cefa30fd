import { Counter, Gauge, Histogram, Registry } from 'prom-client';

import { type CounterId, type GaugeId, type HistogramId, type LabelsOf, type MetricId, METRICS, OTHER } from './table';

/** Names of one kind that are labels of their own; a process that outlives many renames does not grow with them. */
const MOST_NAMES = 200;

/** Gives names of the operator's a label each, until there are too many; those that come later share one. */
export class NameBound {
  readonly #known = new Set<string>();

  constructor(private readonly most = MOST_NAMES) {}

  label(name: string): string {
    if (this.#known.has(name)) return name;
    if (this.#known.size >= this.most) return OTHER;
    this.#known.add(name);
    return name;
  }
}

/** Values that are asked for at each scrape. */
type Reading = () => Iterable<readonly [Readonly<Record<string, string>>, number]>;

/** Pairs of an endpoint and a key that are labels of their own. */
const MOST_PAIRS = 5000;

/** The process's metrics, in a registry of their own. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #counters = new Map<string, Counter>();
  readonly #histograms = new Map<string, Histogram>();
  readonly #readings = new Map<string, Reading>();
  readonly #beforeScrape: (() => Promise<void> | void)[] = [];
  readonly #endpoints = new NameBound();
  readonly #keys = new NameBound();
  readonly #pairs = new NameBound(MOST_PAIRS);

  constructor() {
    for (const [id, declared] of Object.entries(METRICS)) this.#open(id as MetricId, declared);
  }

  /** Adds to a counter. */
  count<Id extends CounterId>(id: Id, labels: LabelsOf<Id>, amount = 1): void {
    this.#counters.get(id)?.inc(this.#bounded(labels), amount);
  }

  /** Adds a value to a histogram. @param seconds in seconds */
  observe<Id extends HistogramId>(id: Id, labels: LabelsOf<Id>, seconds: number): void {
    this.#histograms.get(id)?.observe(this.#bounded(labels), seconds);
  }

  /** Sets where the values of a gauge or a counter come from; `read` is called at each scrape and must not throw. */
  read<Id extends GaugeId | CounterId>(id: Id, read: () => Iterable<readonly [LabelsOf<Id>, number]>): void {
    this.#readings.set(id, read);
  }

  /** Registers work to be done before each scrape. */
  beforeScrape(update: () => Promise<void> | void): void {
    this.#beforeScrape.push(update);
  }

  /** Everything as text, in the form that Prometheus reads. */
  async text(): Promise<string> {
    for (const update of this.#beforeScrape) await update();
    return this.#registry.metrics();
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  #open(id: MetricId, declared: (typeof METRICS)[MetricId]): void {
    const { name, help, labels: labelNames } = declared;
    const common = { name, help, labelNames, registers: [this.#registry] };
    const readings = this.#readings;
    switch (declared.type) {
      case 'counter':
        this.#counters.set(
          id,
          new Counter({
            ...common,
            collect() {
              const read = readings.get(id);
              if (read === undefined) return;
              this.reset();
              for (const [labels, value] of read()) this.inc(labels, value);
            },
          }),
        );
        break;
      case 'histogram':
        this.#histograms.set(id, new Histogram({ ...common, buckets: [...declared.buckets] }));
        break;
      case 'gauge':
        new Gauge({
          ...common,
          collect() {
            const values = [...(readings.get(id)?.() ?? [])];
            this.reset();
            // A gauge without labels is 0 where nothing is read, which would be untrue.
            if (values.length === 0 && labelNames.length === 0) this.remove();
            for (const [labels, value] of values) this.set(labels, value);
          },
        });
    }
  }

  /** Names that come and go do not add up, nor do pairs of them. */
  #bounded(labels: Readonly<Record<string, string>>): Record<string, string> {
    const bounded: Record<string, string> = { ...labels };
    if (labels['endpoint'] !== undefined) bounded['endpoint'] = this.#endpoints.label(labels['endpoint']);
    if (labels['key'] !== undefined) bounded['key'] = this.#keys.label(labels['key']);
    const { endpoint, key } = bounded;
    if (endpoint !== undefined && key !== undefined && this.#pairs.label(`${endpoint}\0${key}`) === OTHER) {
      bounded['endpoint'] = bounded['key'] = OTHER;
    }
    return bounded;
  }
}
