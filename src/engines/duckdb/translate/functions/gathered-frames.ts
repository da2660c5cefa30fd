/**
 * Windows that gather the values of their frames into lists or texts. DuckDB computes 2,048 rows of a window at a time, copies what the
 * frame of each holds, and looks at no interrupt in between: how much that is has to be known before it starts.
 */
import type { ColumnRef, ComputedColumn, Expr, Relation, WindowCall, Windowed } from '../../../../googlesql/resolved';
import type { SqlType } from '../../../../googlesql/types';
import { columnName, type Context } from '../context';
import { LIMITS } from '../expressions/size-limits';
import { fail } from '../../sql';
import { printOver } from './aggregates';

/** What it takes to gather a value for a frame, in steps of 25 ns: those of functions whose result grows with the frame. */
const STEPS_OF_VALUE: Readonly<Record<string, (value: string, type: SqlType) => string>> = {
  ARRAY_AGG: stepsOfCopy,
  ARRAY_CONCAT_AGG: stepsOfCopy,
  STRING_AGG: stepsOfCopy,
};

function stepsOfCopy(value: string, { kind }: SqlType): string {
  switch (kind) {
    case 'STRING':
    case 'JSON':
      return `3 + strlen(${value}) // 64`;
    case 'BYTES':
      return `3 + octet_length(${value}) // 64`;
    case 'ARRAY':
      return `3 + 3 * len(${value})`;
    case 'STRUCT':
      return '8';
    default:
      return '1';
  }
}

function isGathering({ call, orderBy, frame }: WindowCall): boolean {
  return Object.hasOwn(STEPS_OF_VALUE, call.function) && (orderBy.length > 0 || frame !== null);
}

/**
 * Values to gather as columns of the input, where their sizes can be read.
 *
 * @returns null where they are
 */
export function withGatheredValuesComputed(ctx: Context, relation: Windowed): Relation | null {
  const columns: ComputedColumn[] = [];
  const asColumn = (expr: Expr): Expr => {
    if (expr.kind === 'column') return expr;
    const column = { id: ctx.newColumn(), name: '', type: expr.type };
    ctx.estimates.define(column.id, expr);
    columns.push({ column, expr });
    return { kind: 'column', column, type: expr.type, span: expr.span } satisfies ColumnRef;
  };
  const functions = relation.functions.map(({ column, call: window }) => {
    const [value, ...rest] = window.call.args;
    if (!isGathering(window) || value === undefined) return { column, call: window };
    return { column, call: { ...window, call: { ...window.call, args: [asColumn(value), ...rest] } } };
  });
  if (columns.length === 0) return null;
  return { ...relation, input: { kind: 'compute', input: relation.input, columns }, functions };
}

/** The FROM clause of windows, which fails where what they gather for a row and in all is beyond `LIMITS.gatheredSteps`. */
export function withBoundedFrames(ctx: Context, windows: Windowed['functions'], from: string): string {
  const gathering = windows.map(({ call }) => call).filter(isGathering);
  const [first] = gathering;
  if (first === undefined) return from;
  const steps = gathering.map((window) => {
    const [value] = window.call.args;
    if (value?.kind !== 'column') throw new Error(`${window.call.function} of a value that is no column`);
    const ofValue = STEPS_OF_VALUE[window.call.function]!(columnName(value.column.id), value.type);
    return `coalesce(sum(coalesce(${ofValue}, 1)) OVER ${printOver(ctx, window)}, 0)`;
  });
  const each = `SELECT *, ${steps.join(' + ')} AS "steps"${from}`;
  const all = `SELECT *, max("steps") OVER () AS "most", sum("steps") OVER () AS "total" FROM (${each})`;
  const { row, total } = LIMITS.gatheredSteps;
  const isTooMuch = `"most" > ${row} AND "total" > ${total}`;
  const checked = `CASE WHEN ${isTooMuch} THEN ${fail('size', first.call.span)} ELSE true END`;
  return ` FROM (SELECT * EXCLUDE ("steps", "most", "total") FROM (${all}) WHERE ${checked})`;
}
