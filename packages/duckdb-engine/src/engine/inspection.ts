import { setTimeout as sleep } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { abortError } from '../concurrency/deadline';
import { FairSlots } from '../concurrency/fair-slots';
import type { Threads } from '../concurrency/threads/threads';
import type { TableSchema } from '@logquay/googlesql/types';
import type { BoundParameter, RunLimits } from '../contract/contract';
import { wholeTable } from '../data/part';
import { isBreakdown } from './native-error';
import { setUp } from './set-up';
import { translateText } from './translation-task';
import { duckType, physicalFieldNames, quoteName } from '../sql';

/** Statements that are planned at once, of all and of one key: DuckDB may take seconds for one, and is not interrupted. */
const AT_ONCE = { total: 4, perName: 2 };

/** Milliseconds that `close` waits for statements that are planned. */
const PATIENCE = 1_000;

/**
 * The sandbox's last wall: a statement is resolved where no table exists but those it may read, and its translation is
 * then planned by a DuckDB of its own that holds those tables, empty, and nothing else.
 */
export class Inspection {
  #room: Promise<DuckDBInstance> | undefined;
  readonly #slots = new FairSlots(AT_ONCE);
  readonly #planning = new Set<Promise<void>>();
  #closed = false;

  constructor(private readonly threads: Threads) {}

  /** @throws AbortError when it is closed; QueryError `sandboxViolation` where `statement` reads anything but `tables`, or for a fault in it. */
  async inspect(
    statement: string,
    tables: readonly TableSchema[],
    parameters: readonly BoundParameter[],
    limits: RunLimits,
  ): Promise<void> {
    const types = parameters.map(({ name, type }) => ({ name, type }));
    const text = {
      sql: statement,
      tables: tables.map((table) => wholeTable(table, quoteName(table.name))),
      sandboxed: true,
      parameters: types,
      hideBytes: false,
      maxRows: 1,
      fence: null,
    };
    const { sql } = await this.threads.do(translateText, text, statement, limits);
    await this.#slots.use(limits.keyName ?? '', limits, () => {
      if (this.#closed) throw abortError();
      const planning = this.#plan(sql, tables).finally(() => this.#planning.delete(planning));
      this.#planning.add(planning);
      return planning;
    });
  }

  async #plan(sql: string, tables: readonly TableSchema[]): Promise<void> {
    const room = (this.#room ??= emptyRoom());
    const connection = await (await room).connect();
    try {
      for (const table of tables) await connection.run(emptyTable(table));
      (await connection.prepare(sql)).destroySync();
    } catch (error) {
      // It may be broken for ever: the next inspection has a new one. Those in this one keep it alive.
      if (isBreakdown(error) && this.#room === room) this.#room = undefined;
      throw error;
    } finally {
      connection.closeSync();
    }
  }

  /** Resolves when what is planned has ended, or after a second: DuckDB crashes where its instance is closed beneath. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.race([Promise.allSettled(this.#planning), sleep(PATIENCE, undefined, { ref: false })]);
    if (this.#planning.size === 0) (await this.#room)?.closeSync();
  }
}

async function emptyRoom(): Promise<DuckDBInstance> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1', max_memory: '64MB', temp_directory: '' });
  const connection = await instance.connect();
  await connection.run(`SET GLOBAL TimeZone = 'UTC'`);
  await setUp(connection);
  connection.closeSync();
  return instance;
}

/** Temporary: it goes with the connection. */
function emptyTable({ name, columns }: TableSchema): string {
  const names = physicalFieldNames(columns);
  const fields = columns.map(({ type }, i) => `${quoteName(names[i]!)} ${duckType(type, true)}`);
  return `CREATE TEMP TABLE ${quoteName(name)} (${fields.join(', ')})`;
}
