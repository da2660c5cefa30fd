/** UNION, INTERSECT and EXCEPT: columns matched by position, names from the first input, one type for all. */
import { supertype } from '../coercion';
import type { ResolvedQuery } from '../resolved';
import type { SetOperation } from '../syntax';
import { typeText } from '../type-names';
import { shortType } from './access';
import { supportsGrouping } from './comparable';
import { castOutputs } from './queries';
import { invalid, type Session } from './session';

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
    if (input.valueTable !== first.valueTable)
      throw invalid(`${shown} cannot mix SELECT AS STRUCT or VALUE with a plain SELECT.`, span);
  }
  const types = first.output.map(({ name }, at) => {
    const operands = inputs.flatMap((input) => {
      const column = input.output[at]?.column;
      return column === undefined ? [] : [session.operandOfColumn(column)];
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
