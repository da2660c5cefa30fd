/** Google's own analyser as the judge of our gate: what a text reads and calls when BigQuery's rules resolve it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Analyser, type Analysis, type CatalogueTable } from '../../../emulator/src/analyser';
import { columnsOf, parseRestSchema } from '../../../packages/googlesql/src/rest-schema';
import { allowedFunctionNames } from '../../../packages/googlesql/src/consumer/functions';
import type { NamedType } from '../../../packages/googlesql/src/types';
import { CTE_TABLES, PARAMETERS } from './stored';

const OUTSIDE_PATHS: readonly (readonly string[])[] = [
  ['billing_events'],
  ['raw_edge_logs'],
  ['logs', 'raw_edge_logs'],
  ['acme-logs.prod.billing_events'],
  ['acme-logs', 'prod', 'billing_events'],
  ['prod', 'INFORMATION_SCHEMA', 'TABLES'],
];

export interface Analyses {
  readonly analysis: Analysis;
  /** What it uses that no consumer query may; empty for a refused text. */
  readonly forbidden: readonly string[];
}

export class Oracle {
  private constructor(private readonly analyser: Analyser) {}

  /** CTE tables are next to forbidden tables, functions, table functions and a model, all of which resolve. */
  static async start(): Promise<Oracle> {
    const columns = cteColumns();
    const outside: CatalogueTable[] = OUTSIDE_PATHS.map((path) => ({
      fullName: `outside:${path.join('.')}`,
      paths: [path],
      columns: [...(columns.get('edge_logs') ?? [])],
    }));
    const inside: CatalogueTable[] = CTE_TABLES.map((name) => ({
      fullName: `cte:${name}`,
      paths: [[name]],
      columns: [...(columns.get(name) ?? [])],
    }));
    const text = { kind: 'STRING' } as const;
    return new Oracle(
      await Analyser.start({
        tables: [...inside, ...outside],
        functions: [
          { path: ['lib', 'send_away'], arguments: ['ANY'], result: text },
          { path: ['lib.send_away'], arguments: ['ANY'], result: text },
          { path: ['external_query'], arguments: [text, text], result: text },
        ],
        tableFunctions: [{ path: ['external_query'], columns: [{ name: 'a', type: text }] }],
        models: [{ name: 'm', input: [{ name: 'a', type: text }], output: [{ name: 'b', type: text }] }],
      }),
    );
  }

  async analyse(sql: string): Promise<Analyses> {
    const analysis = await this.analyser.analyse(sql, {
      parameters: PARAMETERS.map((name) => ({ name, type: { kind: 'STRING' } })),
    });
    if (!analysis.ok) return { analysis, forbidden: [] };
    const { tree } = analysis;
    const calls = tree.functions.filter((name) => !name.startsWith('$') && !ALLOWED.has(name.toUpperCase()));
    const reads = tree.reads.map(({ table }) => table).filter((table) => !table.startsWith('cte:'));
    const statement = tree.statement === 'query' ? [] : [tree.statement];
    return { analysis, forbidden: [...calls, ...reads, ...tree.others, ...statement] };
  }

  /** Whether the text is a statement, whatever it names. */
  async parses(sql: string): Promise<boolean> {
    return (await this.analyser.parse(sql)) === null;
  }

  close(): Promise<void> {
    return this.analyser.close();
  }
}

const ALLOWED = new Set(allowedFunctionNames());

/** Columns of the CTE tables of logs.all, which select four of each raw table's. */
export function cteColumns(): ReadonlyMap<string, readonly NamedType[]> {
  const schema = JSON.parse(readFileSync(join(__dirname, '../../fixture/schema.json'), 'utf8')) as Record<
    string,
    unknown
  >;
  return new Map(
    CTE_TABLES.map((name) => {
      const columns = columnsOf(parseRestSchema(schema[`raw_${name}`], name));
      return [name, columns.filter((column) => column.name !== 'project')];
    }),
  );
}
