/** A stored endpoint's SQL as the service runs it, with a consumer query in its place where one is given. */
import { join } from 'node:path';
import { openCatalogue } from '../src/endpoints/catalogue';
import type { Endpoint } from '../src/endpoints/endpoint';
import { StoredAnalyses } from '../src/analysis/stored-analyses';
import { Gate } from '../src/sandbox/gate';
import type { BoundParameter, Engine, EngineResult } from '../packages/duckdb-engine/src/contract/contract';
import { composeStatement } from '../src/run/statement';

const silent = { info: (): void => undefined, warn: (): void => undefined, error: (): void => undefined };

export class Stored {
  readonly #gate: Gate;

  private constructor(
    private readonly endpoints: readonly Endpoint[],
    private readonly engine: Engine,
    private readonly fenced: boolean,
  ) {
    this.#gate = new Gate(engine);
  }

  /** @param fenced as for a key with pins */
  static async open(engine: Engine, fenced = false): Promise<Stored> {
    const catalogue = await openCatalogue(join(__dirname, '../../../queries'), { log: silent });
    const endpoints = catalogue.current();
    catalogue.close();
    return new Stored(endpoints, engine, fenced);
  }

  async run(name: string, values: Readonly<Record<string, string>>, sql: string | null = null): Promise<EngineResult> {
    const endpoint = this.endpoints.find((one) => one.name === name);
    if (endpoint === undefined) throw new Error(`No endpoint ${name}.`);
    const parameters = endpoint.parameters.map((one): BoundParameter => ({
      name: one.name,
      type: 'STRING',
      value: values[one.name] ?? '',
    }));
    const limits = { deadline: performance.now() + 60_000, signal: new AbortController().signal };
    const requested = sql === null ? null : { language: 'sql' as const, text: sql };
    const plan = { endpoint, query: requested, parameters, fenced: false };
    const chosen = await composeStatement(
      plan,
      { analyses: new StoredAnalyses(this.engine, this.#gate), gate: this.#gate, now: () => 0n },
      limits,
    );
    const query = { sql: chosen.sql, parameters: chosen.parameters, maxRows: endpoint.maxRows };
    const fence = this.fenced ? { consumer: chosen.consumer } : null;
    return this.engine.run({ ...query, fence, hideBytes: false, maxBytesBilled: null, labels: {} }, limits);
  }

  close(): Promise<void> {
    return this.#gate.close();
  }
}
