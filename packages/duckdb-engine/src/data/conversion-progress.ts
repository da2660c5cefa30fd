import type { DuckDBConnection } from '@duckdb/node-api';

import type { Progress } from '../engine/log';

/** How often DuckDB is asked how far a statement is, in milliseconds. */
const LOOK_AGAIN = 200;

const MB = 1_000_000;

/** Tells where the conversion of one table stands, step by step. */
export class Watch {
  /** @param table its name, and which of how many it is */
  constructor(
    private readonly table: string,
    private readonly progress: Progress,
  ) {}

  /** Has the connection keep account of its statements. */
  async prepare(connection: DuckDBConnection): Promise<void> {
    await connection.run('SET enable_progress_bar = true');
    await connection.run('SET enable_progress_bar_print = false');
    await connection.run('SET progress_bar_time = 0');
  }

  /** Tells how far DuckDB is with a statement until it has ended. */
  async statement<T>(step: string, connection: DuckDBConnection, statement: Promise<T>): Promise<T> {
    const looking = setInterval(() => {
      const { percentage } = connection.progress;
      // Negative: DuckDB does not know yet.
      if (percentage >= 0) {
        this.progress({ what: `${step} ${this.table}`, done: percentage, total: 100, unit: '%' });
      }
    }, LOOK_AGAIN);
    try {
      return await statement;
    } finally {
      clearInterval(looking);
    }
  }

  /** Tells how many bytes of a file are read. */
  bytes(step: string, done: number, total: number): void {
    this.progress({ what: `${step} ${this.table}`, done: done / MB, total: total / MB, unit: 'MB' });
  }

  end(): void {
    this.progress(null);
  }
}
