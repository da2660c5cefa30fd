/** UNION, INTERSECT and EXCEPT: columns matched by position or by name, names from the first input, one type for all. */
import { supertype, type Operand } from '../coercion';
import type { Column, ResolvedQuery } from '../resolved';
import type { SetOperation, Span } from '../tree';
import { typeText } from '../type-names';
import { shortType } from './access';
import { supportsGrouping } from './comparable';
import { matchByName } from './match-by-name';
import { castOutputs } from './queries';
import { invalid, type Session } from './session';

/** A column that the input's own select list makes of a literal converts like it; any other is a value. */
function operandOf(session: Session, { relation }: ResolvedQuery, column: Column): Operand {
  const own = relation.kind === 'compute' && relation.columns.some((computed) => computed.column === column);
  return own ? session.operandOfColumn(column) : { type: column.type, form: 'value' };
}

/** @param spans of the inputs */
export function resolveSetOperation(
  session: Session,
  operation: Pick<SetOperation, 'operator' | 'distinct' | 'matching' | 'span'>,
  given: readonly ResolvedQuery[],
  spans: readonly Span[],
): ResolvedQuery {
  const { matching } = operation;
  const inputs = matching === null ? given : matchByName(session, matching, given, spans);
  const [first] = inputs;
  if (first === undefined) throw new Error('a set operation has inputs');
  const shown = `${operation.operator} ${operation.distinct ? 'distinct' : 'all'}`.toUpperCase();
  for (const [i, input] of inputs.entries()) {
    const span = spans[i] ?? operation.span;
    if (input.output.length !== first.output.length)
      throw invalid(
        `Queries in ${shown} have mismatched column count; query 1 has ${columnCount(first)}, query ${i + 1} has ${columnCount(input)}.`,
        span,
      );
  }
  const types = first.output.map((_, at) => {
    const operands = inputs.flatMap((input) => {
      const column = input.output[at]?.column;
      return column === undefined ? [] : [operandOf(session, input, column)];
    });
    const type = supertype(operands);
    if (type === null) {
      const shownTypes = [...new Set(operands.map((operand) => typeText(operand.type)))].map((text) =>
        text.slice(0, 60),
      );
      throw invalid(`Column ${at + 1} in ${shown} has incompatible types: ${shownTypes.join(', ')}.`, operation.span);
    }
    if (!(operation.operator === 'union' && !operation.distinct) && !supportsGrouping(type))
      throw invalid(
        `Column ${at + 1} in ${shown} has type that does not support set operation comparisons: ${shortType(type)}.`,
        operation.span,
      );
    return type;
  });
  const columns = first.output.map(({ name }, i) => session.column(name, types[i] ?? { kind: 'INT64' }));
  return {
    ctes: [],
    relation: {
      kind: 'set',
      operator: operation.operator,
      distinct: operation.distinct,
      inputs: inputs.map((input) => castOutputs(session, input, types)),
      columns,
    },
    output: columns.map((column, i) => ({ name: first.output[i]?.name ?? null, column })),
    valueTable: first.valueTable,
    ordered: false,
  };
}

function columnCount({ output }: ResolvedQuery): string {
  return `${output.length} column${output.length === 1 ? '' : 's'}`;
}
