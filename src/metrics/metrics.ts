import { Registry } from 'prom-client';

import type { Count, Spread } from './cells';
import { CountFamily, type Reading, ReadFamily, SpreadFamily } from './families';
import { NameBound } from './name-bound';
import { type CounterId, type GaugeId, type HistogramId, type LabelsOf, type MetricId, METRICS } from './table';

/** The process's metrics, in a registry of their own. Cells are meant to be held by who counts often. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #families: ReadonlyMap<MetricId, CountFamily | SpreadFamily | ReadFamily>;
  readonly #beforeScrape: (() => Promise<void> | void)[] = [];
  readonly #endpoints = new NameBound();
  readonly #keys = new NameBound();

  constructor() {
    const families = Object.entries(METRICS).map(([id, declared]) => {
      const family = open(declared);
      this.#registry.registerMetric(family);
      return [id as MetricId, family] as const;
    });
    this.#families = new Map(families);
  }

  count<Id extends CounterId>(id: Id, labels: LabelsOf<Id>): Count {
    return (this.#families.get(id) as CountFamily).cell(this.#bounded(labels));
  }

  /** Of seconds. */
  spread<Id extends HistogramId>(id: Id, labels: LabelsOf<Id>): Spread {
    return (this.#families.get(id) as SpreadFamily).cell(this.#bounded(labels));
  }

  /** Says where the values of a gauge come from; `read` is called at each scrape and must not throw. */
  read<Id extends GaugeId>(id: Id, read: () => Iterable<readonly [LabelsOf<Id>, number]>): void {
    (this.#families.get(id) as ReadFamily).readBy(read as Reading);
  }

  /** For what is brought up to date only when it is looked at. */
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

  #bounded(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    const { endpoint, key } = labels;
    return {
      ...labels,
      ...(endpoint === undefined ? {} : { endpoint: this.#endpoints.label(endpoint) }),
      ...(key === undefined ? {} : { key: this.#keys.label(key) }),
    };
  }
}

function open(declared: (typeof METRICS)[MetricId]): CountFamily | SpreadFamily | ReadFamily {
  switch (declared.type) {
    case 'counter':
      return new CountFamily(declared);
    case 'histogram':
      return new SpreadFamily(declared);
    case 'gauge':
      return new ReadFamily(declared);
  }
}
