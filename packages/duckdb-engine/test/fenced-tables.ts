import type { Engine } from '../src/contract/contract';
import type { DuckDbOptions } from '../src/engine/options';
import { until } from '../../../test/until';
import { DataFolder, ndjson, rowsOf } from './data-folder';
import { queryOf, within } from './queries';

/** Rows of a table that grows which are there from the start: they become a segment, and later ones are in memory. */
const AT_START = 100;

/** Its name, the engine's options, and how many rows are there at the start. */
type Layout = readonly [string, Partial<DuckDbOptions>, number];

/** Where alone texts have dictionaries. */
export const IN_SEGMENTS: Layout = ['rows in segments', { smallFile: 0 }, Infinity];
/** How rows of a table may lie, which depends on how many others have. */
export const LAYOUTS = [
  ['rows in memory', {}, Infinity],
  IN_SEGMENTS,
  ['rows in a segment and in memory', { smallFile: 0 }, AT_START],
] as const satisfies readonly Layout[];

/** Tables in every form in which their rows may lie, and consumers' queries fenced in to CTEs over them. */
export class FencedTables {
  readonly #folders: DataFolder[] = [];
  /** One for each layout. */
  readonly #engines: Engine[] = [];

  private constructor() {}

  /**
   * @param fields of each table, as in `schema.json`
   * @param layouts default: all
   */
  static async make(
    tables: Readonly<Record<string, readonly object[]>>,
    fields: readonly object[],
    layouts: readonly Layout[] = LAYOUTS,
  ): Promise<FencedTables> {
    const opened = new FencedTables();
    const schema = JSON.stringify(Object.fromEntries(Object.keys(tables).map((name) => [name, { fields }])));
    for (const [, options, atStart] of layouts) {
      const files = (from: number, to: number): Record<string, string> =>
        Object.fromEntries(
          Object.entries(tables).map(([name, rows]) => [`${name}.ndjson`, ndjson(...rows.slice(from, to))]),
        );
      const folder = await DataFolder.make({ ...files(0, atStart), 'schema.json': schema });
      opened.#folders.push(folder);
      const engine = await folder.open(options);
      opened.#engines.push(engine);
      if (atStart < Infinity) {
        await folder.append(files(atStart, Infinity));
        for (const [name, { length }] of Object.entries(tables)) await served(engine, name, length);
      }
    }
    return opened;
  }

  /**
   * The rows in no order, or the error.
   *
   * @param form place in the layouts
   * @param ctes of the stored query: `WITH a AS (...)`
   */
  async answer(form: number, ctes: string, consumer: string, fenced = true, maxRows = 10_000): Promise<string> {
    const stored = `${ctes}\n`;
    const sql = stored + (consumer.startsWith('WITH') ? consumer.replace('WITH', ', ') : consumer);
    const fence = fenced ? { consumer: { start: stored.length, end: sql.length } } : null;
    return this.#engines[form]!.run(queryOf(sql, { fence, maxRows }), within()).then(
      ({ rows }) => [...rows].sort().join('\n'),
      (error: unknown) => `failed: ${(error as Error).message}`,
    );
  }

  /** The different answers in all forms behind each of some stored queries. */
  async answers(stored: readonly string[], consumer: string, fenced = true, maxRows = 10_000): Promise<string[]> {
    const all = new Set<string>();
    for (const form of this.#engines.keys()) {
      for (const ctes of stored) all.add(await this.answer(form, ctes, consumer, fenced, maxRows));
    }
    return [...all];
  }

  async remove(): Promise<void> {
    for (const folder of this.#folders) await folder.remove();
  }
}

async function served(engine: Engine, table: string, rows: number): Promise<void> {
  await until(async () => {
    const [row] = await rowsOf(engine, `SELECT COUNT(*) AS n FROM ${table}`);
    return (row as { n: number }).n === rows;
  });
}
