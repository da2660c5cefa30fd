/** Consumer queries on the stored endpoints over `test/fixture`, through the gate, on a real engine. */
import { join } from 'node:path';
import { openCatalogue } from '../../src/endpoints/catalogue';
import type { Endpoint } from '../../src/endpoints/endpoint';
import { StoredAnalyses } from '../../src/analysis/stored-analyses';
import { Gate } from '../../src/sandbox/gate';
import type { BoundParameter, Engine, EngineResult } from '../../packages/duckdb-engine/src/contract/contract';
import { composeStatement, forCaller } from '../../src/run/statement';
import { pino } from 'pino';
import { FIXTURE_END } from '../../packages/duckdb-engine/test/fixture-engine';
import { queryOf, within } from '../../packages/duckdb-engine/test/queries';

export { FIXTURE_END };

const QUERIES = join(__dirname, '../../queries');

export class Consumer {
  private constructor(
    private readonly endpoints: ReadonlyMap<string, Endpoint>,
    readonly engine: Engine,
    readonly gate: Gate,
    private readonly fenced: boolean,
  ) {}

  /** @param fenced as a consumer whose key has pins */
  static async over(engine: Engine, { fenced = false, queries = QUERIES } = {}): Promise<Consumer> {
    const catalogue = await openCatalogue(queries, { log: pino({ level: 'silent' }) });
    const endpoints = new Map(catalogue.current().map((endpoint) => [endpoint.name, endpoint]));
    catalogue.close();
    return new Consumer(endpoints, engine, new Gate(engine), fenced);
  }

  /** @throws what the caller would be told */
  async ask(
    asked: { readonly language: 'sql' | 'lql'; readonly text: string },
    values: Readonly<Record<string, string>> = { project: 'default' },
    name = 'logs.all',
  ): Promise<EngineResult> {
    const endpoint = this.endpoint(name);
    const limits = within(30_000);
    const analyses = new StoredAnalyses(this.engine, this.gate);
    const services = { analyses, gate: this.gate, now: () => FIXTURE_END };
    const plan = { endpoint, query: asked, parameters: bound(endpoint, values), fenced: this.fenced };
    const statement = await composeStatement(plan, services, limits);
    const { sql, parameters } = statement;
    const query = queryOf(sql, { parameters, maxRows: endpoint.maxRows });
    return this.engine.run(query, limits).catch(forCaller(statement));
  }

  sql(text: string, values?: Readonly<Record<string, string>>, name?: string): Promise<EngineResult> {
    return this.ask({ language: 'sql', text }, values, name);
  }

  endpoint(name: string): Endpoint {
    const endpoint = this.endpoints.get(name);
    if (endpoint === undefined) throw new Error(`No endpoint ${name}.`);
    return endpoint;
  }

  async close(): Promise<void> {
    await this.gate.close();
    await this.engine.close();
  }
}

/** An absent optional parameter is bound as ''. */
function bound(endpoint: Endpoint, values: Readonly<Record<string, string>>): BoundParameter[] {
  return endpoint.parameters.map(({ name }) => ({ name, type: 'STRING', value: values[name] ?? '' }));
}
