import { type FunctionTable, arg, sqlOf } from '../expressions/call';
import { quoteText, typeName } from '../../sql';

export const CONDITIONAL_FUNCTIONS: FunctionTable = {
  IF: (call) => `CASE WHEN ${sqlOf(call, 0)} THEN ${sqlOf(call, 1)} ELSE ${sqlOf(call, 2)} END`,
  IFNULL: (call) => `coalesce(${sqlOf(call, 0)}, ${sqlOf(call, 1)})`,
  COALESCE: (call) => `coalesce(${call.args.map((a) => a.sql).join(', ')})`,
  NULLIF: (call) => `nullif(${sqlOf(call, 0)}, ${sqlOf(call, 1)})`,
  ERROR: (call) => {
    // The message would be a value of the query: only the fact is reported.
    const raised = call.fail('raised');
    return `CASE WHEN ${sqlOf(call, 0)} IS NULL THEN ${raised} ELSE ${raised} END`;
  },
  TYPEOF: (call) => quoteText(typeName(arg(call, 0).type)),
};
