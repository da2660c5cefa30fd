/** Queries and limits as an engine is given them, and what it answers. */
import type { Engine, EngineQuery, RunLimits } from '../src/contract/contract';

export const queryOf = (sql: string, more: Partial<EngineQuery> = {}): EngineQuery => ({
  sql,
  parameters: [],
  maxRows: 10_000,
  hideBytes: false,
  maxBytesBilled: null,
  labels: {},
  ...more,
});

/** @param milliseconds from now */
export const within = (milliseconds = 60_000, signal = new AbortController().signal): RunLimits => ({
  deadline: performance.now() + milliseconds,
  signal,
});

/** The texts of the rows. */
export async function textsOf(engine: Engine, sql: string, more?: Partial<EngineQuery>): Promise<readonly string[]> {
  return (await engine.run(queryOf(sql, more), within())).rows;
}
