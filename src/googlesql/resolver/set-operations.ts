/** UNION, INTERSECT and EXCEPT: columns matched by position, names from the first input, one type for all. */
import { supertype, type Operand } from '../coercion';
import type { Column, ResolvedQuery } from '../resolved';
import type { SetOperation } from '../syntax';
import { typeText } from '../type-names';
import { shortType } from './access';
import { supportsGrouping } from './comparable';
import { castOutputs } from './queries';
import { invalid, type Session } from './session';

/** A column that the input's own select list makes of a literal converts like it; any other is a value. */
function operandOf(session: Session, { relation }: ResolvedQuery, column: Column): Operand {
  const own = relation.kind === 'compute' && relation.columns.some((computed) => computed.column === column);
  return own ? session.operandOfColumn(column) : { type: column.type, form: 'value' };
}

export function resolveSetOperation(
  session: Session,
  operation: SetOperation,
  inputs: readonly ResolvedQuery[],
): ResolvedQuery {
  const [first] = inputs;
  if (first === undefined) throw new Error('a set operation has inputs');
  const shown = operation.operator.toUpperCase();
  for (const [i, input] of inputs.entries()) {
    const { span } = operation.inputs[i] ?? operation;
    if (input.output.length !== first.output.length)
      throw invalid(
        `Every query of ${shown} has the same number of columns: the first has ${first.output.length}, this one ${input.output.length}.`,
        span,
      );
  }
  const types = first.output.map(({ name }, at) => {
    const operands = inputs.flatMap((input) => {
      const column = input.output[at]?.column;
      return column === undefined ? [] : [operandOf(session, input, column)];
    });
    const type = supertype(operands);
    if (type === null) {
      const shownTypes = [...new Set(operands.map((operand) => typeText(operand.type)))].map((text) =>
        text.slice(0, 60),
      );
      throw invalid(
        `Column ${name ?? at + 1} of ${shown} has no common type: ${shownTypes.join(', ')}.`,
        operation.span,
      );
    }
    if (!(operation.operator === 'union' && !operation.distinct) && !supportsGrouping(type))
      throw invalid(`${shown} cannot compare a column of type ${shortType(type)}.`, operation.span);
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
