import { nearest } from '../resolver';
import { checkLevelRanges } from './level-range';
import { LqlError } from './lql-error';
import { parse } from './parse';
import type { Rules, Span } from './rules';
import { checkText } from './scanner';
import { checkColumns } from './sql';

export interface ReadOptions {
  /** Names of the stored query's CTE tables, in its order. */
  readonly tables: readonly string[];
  /** The clock, in microseconds since the epoch; taken once per request. */
  readonly now: bigint;
  /** Whether the columns of the table will be known: `toSql` then judges by them whether a field has levels. */
  readonly typed?: boolean;
}

export type Reading =
  | { readonly kind: 'blank' }
  /** `table` is the one that `f:` names, or the only one there is. */
  | { readonly kind: 'rules'; readonly rules: Rules; readonly table: string };

/** Reads an LQL text; a blank one counts as absent. Throws LqlError. */
export function readLql(text: string, { tables, now, typed = false }: ReadOptions): Reading {
  checkText(text);
  const rules = parse(text, now);
  if (rules === null) return { kind: 'blank' };
  checkColumns(rules);
  if (!typed) checkLevelRanges(rules, null, null);
  return { kind: 'rules', rules, table: chooseTable(rules, tables) };
}

/** Without `f:` an endpoint with several tables is asked about at the start of the text. */
function chooseTable({ from, fromSpan }: Rules, tables: readonly string[]): string {
  const nowhere: Span = { start: 0, end: 0 };
  if (from !== null) {
    if (tables.includes(from)) return from;
    const near = nearest(from, tables);
    throw new LqlError('unknown_table', `table ${from} is not one of: ${tables.join(', ')}`, fromSpan ?? nowhere, {
      allowed: tables,
      ...(near === undefined ? {} : { hint: `Did you mean f:${near}?` }),
    });
  }
  const [only, ...others] = tables;
  if (only === undefined) throw new LqlError('no_tables', 'the endpoint has no tables to query', nowhere);
  if (others.length === 0) return only;
  throw new LqlError('table_required', `several tables available (${tables.join(', ')}): name one with f:`, nowhere, {
    hint: `Add f:${only}, for example.`,
    allowed: tables,
  });
}
