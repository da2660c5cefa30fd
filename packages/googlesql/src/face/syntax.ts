/** The text of a query and its tree, before any name is looked up. */
export { COMPOSED_BOUNDS, TRANSLATED_BOUNDS } from '../bounds';
export { firstName, fromPaths, tablesRead } from '../from-paths';
export { isReserved, lex, lexUntilFault, type Token, writtenName } from '../lexer';
export { parseQuery, surveyQuery, unsupportedError } from '../parser';
export { forEachChild, hasAggregate, isAggregateCall, type SyntaxNode, walk } from '../tree-walk';
export type {
  Expression,
  FromItem,
  GroupBy,
  GroupingItem,
  Identifier,
  Join,
  Literal,
  OrderItem,
  Parameter,
  Query,
  QueryBody,
  Select,
  SelectExpression,
  SelectStar,
  Span,
  WithEntry,
} from '../tree';
