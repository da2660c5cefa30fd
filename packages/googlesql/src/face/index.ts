/** GoogleSQL resolved against schemas, and printed again: what a query means, column by column. */
export { columnsOfQuery, columnsRead } from '../columns-read';
export {
  describeColumns,
  type DescribedColumn,
  describing,
  type Description,
  readColumns,
  readDescriptions,
  resultColumns,
} from '../descriptions';
export { findFunction, functionOf, namedFunction, OPERATORS, type SqlFunction } from '../functions/catalogue';
export type { AggregateName, FunctionName, ScalarName } from '../functions/function-table';
export { type Parameter, type Pattern, signaturesOf } from '../functions/signature';
export { placesThatCanFail, type PrintedQuery, printQuery, queryCanFail } from '../printer';
export { called, columnRef, NO_SPAN, queryOf } from '../resolved-nodes';
export {
  callExpressions,
  definesOf,
  inputsOf,
  mapOperands,
  type Mapping,
  mapRelation,
  operandsOf,
  queriesOf,
  relationExpressions,
  relationsBelow,
  replacing,
  visibleColumns,
  visitQuery,
} from '../resolved-walk';
export type {
  Aggregate,
  AggregateCall,
  Column,
  Compute,
  ComputedColumn,
  Cte,
  CteScan,
  Expr,
  Filter,
  FunctionCall,
  JoinRelation,
  Limit,
  OutputColumn,
  Relation,
  ResolvedBound,
  ResolvedCase,
  ResolvedCast,
  ResolvedLiteral,
  ResolvedQuery,
  SetRelation,
  Sort,
  SortKey,
  SubqueryExpr,
  TableScan,
  UnnestScan,
  WindowCall,
  Windowed,
} from '../resolved';
export { nearest, resolveQuery, surveyMeaning } from '../resolver';
export { rowByRow, type RowByRow } from '../row-by-row';
export { fixesOrder } from '../row-order';
export { aggregateFailsItself, canFail, failsItself, hasOneRowAtMost, PATTERNS } from '../totality';
