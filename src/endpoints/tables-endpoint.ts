/** The endpoint `tables`, which is in no file: a query over every table of DATA_DIR that has rows (docs/endpoints.md). */
import { createHash } from 'node:crypto';

import { isReserved, parseQuery, type Query, writtenName } from '@logquay/googlesql/syntax';
import { rolesOf, type TableSchema, timeExpression } from '@logquay/googlesql/types';
import type { Engine, FolderStatus, RunLimits, TableSchemas } from '@logquay/duckdb-engine/contract';
import type { Logger } from 'pino';
import { fieldOf, isAfter, openBounds } from './time-bounds';
import type { BuiltIn, Endpoint, ParameterDeclaration } from './endpoint';

export const TABLES_NAME = 'tables';
const ID = '6c1f0a9e-3b52-4d87-9f14-7ab1e5c0de01';

/** A query has 100 CTEs at most, of the stored text and the caller's together, and the stored text 64 KiB. */
const MOST_TABLES = 90;
const LONGEST_SQL = 60_000;
/** Rows that it gives without a query of the caller's. */
const NEWEST_ROWS = 100;
/** Tables that a description, or the log, names as left out. */
const MOST_NAMED = 20;

/** A table that has rows. */
export interface FolderTable extends TableSchema {
  /** Time of its newest row in microseconds since the epoch; null: not known, or it has no time. */
  readonly newest: bigint | null;
}

export interface TablesEndpoint {
  readonly endpoint: Endpoint;
  /** Tables that have no place in it. */
  readonly leftOut: readonly string[];
}

interface Cte {
  readonly name: string;
  readonly sql: string;
  readonly time: string | null;
}

/** The endpoint over these tables. */
export function tablesEndpoint(tables: readonly FolderTable[]): TablesEndpoint {
  const newestFirst = [...tables].sort(byNewest);
  const kept = new Set(withOwnNames(newestFirst).slice(0, MOST_TABLES));
  // In the order of their names: which one has the newest row changes all the time.
  const inOrder = [...kept].sort(byName);
  let length = 0;
  const ctes = inOrder.flatMap((table): Cte[] => {
    const cte = cteOf(table);
    if (length + cte.sql.length > LONGEST_SQL) return [];
    length += cte.sql.length;
    return [cte];
  });
  const served = new Set(ctes.map(({ name }) => name));
  const leftOut = tables.filter((table) => !kept.has(table) || !served.has(cteName(table.name)));
  const first = newestFirst.find((table) => kept.has(table) && served.has(cteName(table.name)));
  const own = ctes.find(({ name }) => first !== undefined && name === cteName(first.name)) ?? null;
  const names = leftOut.map(({ name }) => name).sort();
  return { endpoint: endpointOf(ctes, own, names), leftOut: names };
}

/** What a consumer query can call the table: other characters are `_`, which is in front of a digit or a reserved word, too. */
export function cteName(table: string): string {
  const plain = table.replace(/[^A-Za-z0-9_]/gu, '_');
  return /^\d/.test(plain) || isReserved(plain.toUpperCase()) ? `_${plain}` : plain;
}

/** One table for each name, whatever its case: the one that has it, else the first by its own. */
function withOwnNames(tables: readonly FolderTable[]): readonly FolderTable[] {
  const holders = new Map<string, FolderTable>();
  for (const table of [...tables].sort(byName)) {
    const name = cteName(table.name);
    const folded = name.toLowerCase();
    const holder = holders.get(folded);
    if (holder === undefined || (cteName(holder.name) !== holder.name && name === table.name))
      holders.set(folded, table);
  }
  const kept = new Set(holders.values());
  return tables.filter((table) => kept.has(table));
}

function byName(a: FolderTable, b: FolderTable): number {
  return a.name < b.name ? -1 : 1;
}

function byNewest(a: FolderTable, b: FolderTable): number {
  if (a.newest === b.newest) return byName(a, b);
  if (a.newest === null || b.newest === null) return a.newest === null ? 1 : -1;
  return a.newest > b.newest ? -1 : 1;
}

function cteOf({ name, columns, timeUnits }: FolderTable): Cte {
  const { time } = rolesOf(columns, {}, timeUnits);
  const called = cteName(name);
  const bounds = time === null ? '' : `\n  WHERE ${openBounds(time).join('\n    AND ')}`;
  // `*`: a field that comes is there at once, and the definition is what it was. The name in FROM is the table's, whatever the CTE's
  // is: no CTE reads itself, and none here reads another table.
  const sql = `${called} AS (\n  SELECT * FROM ${writtenName(name)} AS t${bounds}\n)`;
  return { name: called, sql, time: time === null ? null : fieldOf(time) };
}

/** @param own whose newest rows it gives by itself; null: there is no table */
function endpointOf(ctes: readonly Cte[], own: Cte | null, leftOut: readonly string[]): Endpoint {
  const description = describe(leftOut);
  const parts = new Map<string, Endpoint>();
  const whole: Endpoint = withCtes(ctes, ownRows(own), { ctes, description }, (query) => {
    if (query === null) return ownPart;
    const read = ctesNamedIn(query.text, ctes);
    if (read.length === 0) return whole;
    const key = read.map(({ name }) => name).join();
    const known = parts.get(key) ?? withCtes(read, 'SELECT 1 AS nothing', { ctes, description });
    // Few texts name several tables.
    if (parts.size < 2 * MOST_TABLES) parts.set(key, known);
    return known;
  });
  const ownPart = own === null ? whole : withCtes([own], ownRows(own), { ctes, description });
  return whole;
}

/** Those whose names stand anywhere in a text, and so all that it can read; none: it names none, or not plainly. */
function ctesNamedIn(text: string, ctes: readonly Cte[]): readonly Cte[] {
  // A name in backticks may be written with escapes.
  if (text.includes('`') && text.includes('\\')) return [];
  const words = new Set((text.match(/\w+/g) ?? []).map((word) => word.toLowerCase()));
  return ctes.filter(({ name }) => words.has(name.toLowerCase()));
}

function ownRows(own: Cte | null): string {
  if (own === null) return 'SELECT * FROM (SELECT 1 AS nothing) WHERE FALSE';
  const order = own.time === null ? '' : ` ORDER BY ${own.time} DESC`;
  return `SELECT * FROM ${own.name} AS t${order} LIMIT ${String(NEWEST_ROWS)}`;
}

/** The definition with some of the CTEs, whose revision is that of these alone. */
function withCtes(
  some: readonly Cte[],
  final: string,
  { ctes, description }: { readonly ctes: readonly Cte[]; readonly description: string },
  partFor?: BuiltIn['partFor'],
): Endpoint {
  const sql = some.length === 0 ? final : `WITH ${some.map((cte) => cte.sql).join(',\n')}\n${final}`;
  let tree: Query | undefined;
  const part: Endpoint = {
    id: ID,
    name: TABLES_NAME,
    file: TABLES_NAME,
    description,
    maxRows: 1000,
    ordered: / ORDER BY /.test(final),
    exportRows: 0,
    mcp: false,
    toolName: `endpoint_${TABLES_NAME}`,
    cacheTtl: 0,
    cacheWarming: 0,
    sandbox: ctes.length > 0,
    redactPii: false,
    strictParams: false,
    maxBytesBilled: null,
    timeout: null,
    parameters: PARAMETERS,
    sql,
    get query() {
      return (tree ??= parseQuery(sql));
    },
    // What a text could name, for what is said of one that names something else.
    cteTables: ctes.map(({ name }) => name),
    revision: createHash('sha256').update(sql).digest('hex'),
    builtIn: { ctes: new Map(some.map((cte) => [cte.name, cte.sql])), partFor: partFor ?? (() => part) },
  };
  return part;
}

const PARAMETERS: readonly ParameterDeclaration[] = [
  bound('iso_timestamp_start', 'Rows strictly after this instant. Empty means no bound.'),
  bound('iso_timestamp_end', 'Rows at or before this instant. Empty means no bound.'),
];

function bound(name: string, description: string): ParameterDeclaration {
  return {
    name,
    description,
    type: 'timestamp',
    list: false,
    required: false,
    default: null,
    defaultLookback: null,
    values: null,
    minimum: null,
    maximum: null,
  };
}

function describe(leftOut: readonly string[]): string {
  const what =
    'Every table of DATA_DIR that has rows. Without a query of its own it answers the newest rows of the table that has the newest one.';
  if (leftOut.length === 0) return what;
  const more = leftOut.length > MOST_NAMED ? `, and ${String(leftOut.length - MOST_NAMED)} more` : '';
  return `${what} Left out, as names collide or there are too many tables: ${leftOut.slice(0, MOST_NAMED).join(', ')}${more}.`;
}

/** Milliseconds between two looks for the newest rows, that one of them may go on, and that a call may take. */
const NEWEST_AGAIN = 1_000;
const LOOK = 1_000;
const PATIENCE = 10_000;

interface KnownTable extends FolderTable {
  readonly rows: number;
  readonly arrived: number;
}

/** Keeps the endpoint `tables` as the data folder is. */
export class FolderTables {
  #known: ReadonlyMap<string, KnownTable> = new Map();
  #target = '';
  #newestAt = -Infinity;
  #looking: Promise<void> | null = null;
  #next: Promise<void> | null = null;
  #again: NodeJS.Timeout | null = null;
  #leftOut = 0;
  #sql = '';
  #isFailing = false;
  #closed = false;

  constructor(
    private readonly engine: Pick<Engine, 'tables' | 'run' | 'dataStatus'>,
    private readonly log: Pick<Logger, 'info' | 'warn'>,
    private readonly publish: (endpoint: Endpoint) => void,
  ) {}

  /** Takes up what has changed since the last call. Resolves when that is published; it never rejects. */
  look(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    if (this.#looking !== null) {
      // What has changed during a look is for the next one.
      this.#next ??= this.#looking.then(() => {
        this.#next = null;
        return this.look();
      });
      return this.#next;
    }
    this.#looking = this.#takeUp()
      .then(() => {
        if (this.#isFailing) this.log.info('all tables of DATA_DIR can be read again for the endpoint tables');
        this.#isFailing = false;
      })
      .catch((error: unknown) => {
        if (this.#closed) return;
        if (!this.#isFailing)
          this.log.warn({ err: error }, 'a table of DATA_DIR cannot be read for the endpoint tables');
        this.#isFailing = true;
        this.#lookLater();
      })
      .finally(() => (this.#looking = null));
    return this.#looking;
  }

  close(): void {
    this.#closed = true;
    if (this.#again !== null) clearTimeout(this.#again);
  }

  #lookLater(): void {
    if (this.#closed) return;
    this.#again ??= setTimeout(() => {
      this.#again = null;
      void this.look();
    }, NEWEST_AGAIN).unref();
  }

  async #takeUp(): Promise<void> {
    const status = this.engine.dataStatus?.() ?? null;
    if (status === null) return;
    const withRows = status.tables.filter(({ rows }) => rows > 0);
    const isOther = status.target !== this.#target || withRows.some(({ table }) => !this.#known.has(table));
    const schemas = isOther ? await this.#schemas(withRows) : null;
    const isDue = isOther || performance.now() - this.#newestAt > NEWEST_AGAIN;
    // With thousands of tables those that are known are served before the others are.
    const end = performance.now() + LOOK;
    const known = new Map<string, KnownTable>();
    const faults: Error[] = [];
    for (const { table: name, rows, arrived } of withRows) {
      const before = this.#known.get(name);
      const schema = schemas?.get(name) ?? before ?? { name, columns: [] };
      const table = { ...schema, newest: before?.newest ?? null };
      const isSame = before !== undefined && before.rows === rows && before.arrived === arrived;
      // The only table needs no look for its newest row: no rows of it have been looked at when another table comes.
      if (withRows.length === 1) known.set(name, { ...table, newest: null, rows: 0, arrived: 0 });
      else if (isSame) known.set(name, { ...table, rows, arrived });
      else {
        let newest: bigint | null | undefined;
        if (isDue && performance.now() < end)
          newest = await this.#newest(table, rows < (before?.rows ?? 0)).catch((error: unknown) => {
            faults.push(error instanceof Error ? error : new Error(String(error)));
            return undefined;
          });
        if (newest === undefined) this.#lookLater();
        const seen =
          newest === undefined ? { rows: before?.rows ?? 0, arrived: before?.arrived ?? 0 } : { rows, arrived, newest };
        known.set(name, { ...table, ...seen });
      }
    }
    if (isDue) this.#newestAt = performance.now();
    this.#known = known;
    this.#target = status.target;
    this.#tell();
    // A table whose newest row cannot be read keeps no other from being served.
    if (faults[0] !== undefined) throw faults[0];
  }

  #tell(): void {
    const { endpoint, leftOut } = tablesEndpoint([...this.#known.values()]);
    // Which ones are beyond the newest may change with each row.
    if (leftOut.length > this.#leftOut)
      this.log.warn(
        { tables: leftOut.slice(0, MOST_NAMED), count: leftOut.length },
        'tables are left out of the endpoint tables: names collide, or there are too many',
      );
    this.#leftOut = leftOut.length;
    if (endpoint.sql === this.#sql || this.#closed) return;
    this.#sql = endpoint.sql;
    this.publish(endpoint);
  }

  async #schemas(tables: FolderStatus['tables']): Promise<TableSchemas['schemas']> {
    const { schemas } = await this.engine.tables(
      tables.map(({ table }) => [table]),
      limits(),
    );
    return schemas;
  }

  /** @param anew whether rows have gone, so that what was the newest one may have, too */
  async #newest({ name, columns, timeUnits, newest }: FolderTable, anew: boolean): Promise<bigint | null> {
    const { time } = rolesOf(columns, {}, timeUnits);
    if (time === null) return null;
    const field = fieldOf(time);
    const after = newest === null || anew ? '' : ` WHERE ${isAfter(time, `TIMESTAMP_MICROS(${newest})`)}`;
    const micros = `UNIX_MICROS(TIMESTAMP(${timeExpression(field, time)}))`;
    const sql = `SELECT ${micros} AS newest FROM ${writtenName(name)} AS t${after} ORDER BY ${field} DESC LIMIT 1`;
    const { rows } = await this.engine.run(
      { sql, parameters: [], maxRows: 1, hideBytes: false, maxBytesBilled: null, stored: true, labels: {} },
      limits(),
    );
    const found = /-?\d+/.exec(rows[0] ?? '')?.[0];
    return found === undefined ? (anew ? null : newest) : BigInt(found);
  }
}

function limits(): RunLimits {
  return { deadline: performance.now() + PATIENCE, signal: new AbortController().signal };
}
