import { canFail } from '@logquay/googlesql';
import { type Call, type FunctionTable, arg, isName, sqlOf } from '../expressions/call';
import { isComparedPlainly } from '../expressions/membership';
import { equals } from './operators';
import { quoteText, typeName } from '../../sql';

/**
 * The first argument that is not NULL. DuckDB evaluates what a later one holds twice before the first, though not where that
 * stands in a CASE.
 */
function coalesced({ args }: Call): string {
  const [first, ...others] = args;
  const isPlain = first !== undefined && (isName(first.sql) || first.expr.kind === 'literal');
  if (isPlain && others.some(({ expr }) => canFail(expr)))
    return `CASE WHEN ${first.sql} IS NOT NULL THEN ${first.sql} ELSE coalesce(${others.map(({ sql }) => sql).join(', ')}) END`;
  return `coalesce(${args.map(({ sql }) => sql).join(', ')})`;
}

function nullIf(call: Call): string {
  if (isComparedPlainly(arg(call, 0).type)) return `nullif(${sqlOf(call, 0)}, ${sqlOf(call, 1)})`;
  return call.bind([sqlOf(call, 0), sqlOf(call, 1)], (a, b) => {
    const [left, right] = [arg(call, 0), arg(call, 1)];
    return `CASE WHEN ${equals({
      ...call,
      args: [
        { ...left, sql: a },
        { ...right, sql: b },
      ],
    })} THEN NULL ELSE ${a} END`;
  });
}

export const CONDITIONAL_FUNCTIONS = {
  IF: { emit: (call) => `CASE WHEN ${sqlOf(call, 0)} THEN ${sqlOf(call, 1)} ELSE ${sqlOf(call, 2)} END`, lazy: true },
  IFNULL: { emit: coalesced, lazy: true },
  COALESCE: { emit: coalesced, lazy: true },
  NULLIF: { emit: nullIf, writtenOut: true },
  ERROR: (call) => {
    // The message would be a value of the query: only the fact is reported.
    const raised = call.fail('raised');
    return `CASE WHEN ${sqlOf(call, 0)} IS NULL THEN ${raised} ELSE ${raised} END`;
  },
  TYPEOF: (call) => quoteText(typeName(arg(call, 0).type)),
} satisfies FunctionTable;
