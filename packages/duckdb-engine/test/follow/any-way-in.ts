/** Rows of a folder that is read at once are those of the same lines that come in any other way. */
import type { Engine } from '../../src/contract/contract';
import { ServiceError } from '../../src/contract/service-error';
import type { DuckDbOptions } from '../../src/engine/options';
import { Random } from '../../../../test/dialect/random';
import { DataFolder } from '../data-folder';
import { FolderHistory } from './folder-history';
import { CSV_HEADER, RowLines, SCHEMA, type Table, TABLES } from './row-lines';

/** Milliseconds until rows that do not become the right ones are wrong. */
const PATIENCE = 30_000;
/** Milliseconds more that it may take where it says that it is behind. */
const SLOWEST = 180_000;

const SHOWN = 5;

export interface Difference {
  /** null: an error was logged, though all rows are right. */
  readonly table: Table | null;
  /** Rows that only one side has. */
  readonly missing: readonly string[];
  readonly extra: readonly string[];
  /** What was done. */
  readonly steps: readonly string[];
  readonly logged: readonly unknown[];
}

/** One run; null: no difference. */
export async function compareWays(seed: number, lines: number): Promise<Difference | null> {
  const random = new Random(seed);
  const rows = new RowLines(random, random.pick([Infinity, 50, 8]));
  const content = new Map(TABLES.map((table) => [table, Array.from({ length: lines }, () => rows.line(table))]));
  const schema = { 'schema.json': JSON.stringify(SCHEMA) };
  const atOnce = await DataFolder.make({
    ...schema,
    ...Object.fromEntries(
      [...content].map(([table, all]) => {
        const lines = all.map((line) => `${line}\n`).join('');
        if (table === 'csv') return [`${table}.csv`, `${CSV_HEADER}\n${lines}`];
        return [`${table}.${table === 'text' ? 'log' : 'ndjson'}`, lines];
      }),
    ),
  });
  const grown = await DataFolder.make(schema);
  const history = new FolderHistory(grown.dataDir, random);
  for (const [table, all] of content) history.add(table, all);
  const steps: string[] = [];
  try {
    const reference = await atOnce.open();
    // The last record of a text file waits for lines that continue it.
    for (let n = 0; n < 100 && (await rowsOf(reference, 'text')).length < lines; n++) await sleep(100);
    const expected = new Map<Table, readonly string[]>();
    for (const table of TABLES) expected.set(table, await rowsOf(reference, table));
    await reference.close();
    const found = new Set(expected.get('raw_x')!.map((row) => (JSON.parse(row) as { id: string }).id));
    const missing = rows.kept.filter((id) => !found.has(id));
    const extra = rows.tooWide.filter((id) => found.has(id));
    if (missing.length + extra.length > 0)
      return { table: 'raw_x', missing, extra, steps: ['read at once'], logged: [] };
    const options = optionsOf(random);
    steps.push(`start ${JSON.stringify(options)}`);
    let engine = await grown.open(options);
    const restart = async (): Promise<void> => {
      const options = optionsOf(random);
      steps.push(`restart ${JSON.stringify(options)}`);
      await engine.close();
      engine = await grown.open(options);
    };
    while (!history.isOver) {
      steps.push(await history.step());
      if (random.chance(0.2)) await sleep(random.int(500));
      if (random.chance(0.03)) await restart();
    }
    const difference =
      (await differs(() => engine, expected)) ?? (await restart(), await differs(() => engine, expected));
    const logged = grown.logged.filter(({ level, message }) => level !== 'info' && !/skipped/.test(message));
    const isFine = difference === null && logged.every(({ level }) => level !== 'error');
    return isFine ? null : { ...(difference ?? { table: null, missing: [], extra: [] }), steps, logged };
  } finally {
    await atOnce.remove();
    await grown.remove();
  }
}

function optionsOf(random: Random): Partial<DuckDbOptions> {
  return {
    smallFile: random.pick([0, 300, 8 * 1024 * 1024]),
    tailBytes: random.pick([100, 3_000, 32 * 1024 * 1024]),
  };
}

async function differs(
  engine: () => Engine,
  expected: ReadonlyMap<Table, readonly string[]>,
): Promise<Omit<Difference, 'steps' | 'logged'> | null> {
  for (const end = performance.now() + PATIENCE; ;) {
    let difference: Omit<Difference, 'steps' | 'logged'> | null = null;
    const behind = isBehind(engine());
    for (const [table, rows] of expected) {
      const found = await rowsOf(engine(), table).catch(noneYet);
      if (difference === null && found.join('\n') !== rows.join('\n')) {
        difference = {
          table,
          missing: without(rows, found).slice(0, SHOWN),
          extra: without(found, rows).slice(0, SHOWN),
        };
      }
    }
    if (difference === null) return null;
    const late = performance.now() - end;
    // On a busy machine the service says that it is behind; rows that it does not miss are lost.
    if (late > SLOWEST || (late > 0 && !behind)) return difference;
    await sleep(200);
  }
}

/** Whether there are rows that are known and not served yet. */
function isBehind(engine: Engine): boolean {
  return engine.dataStatus?.()?.tables.some(({ behind }) => behind > 0) ?? false;
}

/** A table that is inferred is there with its first row; before that is read, the table is not served. */
function noneYet(error: unknown): readonly string[] {
  if (String(error).includes('Table not found')) return [];
  if (error instanceof ServiceError && error.reason === 'backendUnavailable') return [];
  throw error;
}

/** Texts of the rows, sorted; columns of a table that is inferred have no order. */
async function rowsOf(engine: Engine, table: Table): Promise<readonly string[]> {
  const { rows } = await engine.run(
    {
      sql: `SELECT * FROM ${table}`,
      parameters: [],
      maxRows: 10_000,
      hideBytes: false,
      maxBytesBilled: null,
      labels: {},
    },
    { deadline: performance.now() + 60_000, signal: new AbortController().signal },
  );
  return rows.map((row) => (table in SCHEMA ? row : sorted(row))).sort();
}

function sorted(row: string): string {
  const of = (value: unknown): unknown =>
    typeof value !== 'object' || value === null || Array.isArray(value)
      ? value
      : Object.fromEntries(
          Object.entries(value)
            .map(([name, inner]) => [name, of(inner)] as const)
            .sort(([a], [b]) => (a < b ? -1 : 1)),
        );
  return JSON.stringify(of(JSON.parse(row)));
}

function without(rows: readonly string[], others: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const row of others) left.set(row, (left.get(row) ?? 0) + 1);
  return rows.filter((row) => {
    const count = left.get(row) ?? 0;
    left.set(row, count - 1);
    return count <= 0;
  });
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
