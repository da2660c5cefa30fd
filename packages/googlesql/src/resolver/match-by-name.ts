/** BY NAME and CORRESPONDING: the inputs of a set operation with the columns of the result, each in its order. */
import type { Column, ComputedColumn, OutputColumn, ResolvedQuery } from '../resolved';
import type { ColumnMatching, Span } from '../tree';
import { invalid, type Session } from './session';

/** @param spans of the inputs */
export function matchByName(
  session: Session,
  { mode, columns, span }: ColumnMatching,
  inputs: readonly ResolvedQuery[],
  spans: readonly Span[],
): ResolvedQuery[] {
  const named = inputs.map((input, i) => columnsByName(input, i, spans[i] ?? span));
  const all = new Map(named.flatMap((one) => [...one].map(([key, { name }]) => [key, name] as const)).reverse());
  const names = columns === null ? matchedNames(mode, named, spans, span) : listedNames(mode, columns, named);
  return inputs.map((input, i) => {
    const own = named[i] ?? new Map<string, OutputColumn>();
    const missing: ComputedColumn[] = [];
    const output = names.map((key): OutputColumn => {
      const column = own.get(key)?.column ?? nullColumn(session, all.get(key) ?? key, span, missing);
      return { name: named[0]?.get(key)?.name ?? all.get(key) ?? key, column };
    });
    return { ...withComputed(input, missing), output };
  });
}

type ByName = ReadonlyMap<string, OutputColumn>;

function columnsByName({ output, valueTable }: ResolvedQuery, i: number, span: Span): ByName {
  if (valueTable) throw invalid('Value table type not allowed in set operations with BY NAME or CORRESPONDING.', span);
  const named = new Map<string, OutputColumn>();
  for (const [at, column] of output.entries()) {
    const key = column.name?.toLowerCase();
    if (key === undefined)
      throw invalid(
        `Anonymous columns are not allowed in set operations when BY NAME or CORRESPONDING is used: query ${i + 1}, column ${at + 1}.`,
        span,
      );
    if (named.has(key))
      throw invalid(
        `Duplicate columns are not allowed in set operations when BY NAME or CORRESPONDING is used. Duplicate column name: ${column.name} in query ${i + 1}.`,
        span,
      );
    named.set(key, column);
  }
  return named;
}

function matchedNames(
  mode: ColumnMatching['mode'],
  named: readonly ByName[],
  spans: readonly Span[],
  span: Span,
): string[] {
  const [first = new Map<string, OutputColumn>(), ...others] = named;
  const own: string[] = [...first.keys()];
  switch (mode) {
    case 'full':
      return [...new Set(named.flatMap((one) => [...one.keys()]))];
    case 'left':
      for (const [i, other] of others.entries())
        if (!own.some((key) => other.has(key)))
          throw invalid(
            `Query ${i + 2} of the set operation with LEFT mode does not share any common columns with query 1.`,
            spans[i + 1] ?? span,
          );
      return own;
    case 'inner': {
      const common = own.filter((key) => others.every((other) => other.has(key)));
      if (common.length === 0)
        throw invalid('Queries of the set operation using BY NAME do not have any columns in common.', span);
      return common;
    }
    case null:
      for (const [i, other] of others.entries())
        if (other.size !== own.length || !own.every((key) => other.has(key)))
          throw invalid(
            `BY NAME requires all input queries to have identical column names, but query 1 has ${shown(first)} and query ${i + 2} has ${shown(other)}.`,
            spans[i + 1] ?? span,
          );
      return own;
  }
}

/** Columns that the query lists itself: in which inputs they have to be is a matter of the mode. */
function listedNames(
  mode: ColumnMatching['mode'],
  columns: NonNullable<ColumnMatching['columns']>,
  named: readonly ByName[],
): string[] {
  const names = new Set<string>();
  for (const { name, span } of columns) {
    const key = name.toLowerCase();
    if (names.has(key)) throw invalid(`Duplicate column name ${name} in the column list of BY NAME.`, span);
    names.add(key);
    const missing = named.findIndex((one) => !one.has(key));
    const absent =
      mode === 'full' ? !named.some((one) => one.has(key)) : mode === 'left' ? missing === 0 : missing >= 0;
    if (absent) throw invalid(`Column ${name} is not in query ${missing + 1} of the set operation.`, span);
  }
  return [...names];
}

function shown(columns: ByName): string {
  return `[${[...columns.values()].map(({ name }) => name).join(', ')}]`.slice(0, 200);
}

function nullColumn(session: Session, name: string | null, span: Span, into: ComputedColumn[]): Column {
  const expr = session.nullLiteral(span);
  const column = session.column(name, expr.type);
  session.rememberLiteral(column, expr);
  into.push({ column, expr });
  return column;
}

/** More columns beside those that the input's own list computes, which go on to convert like literals where they are some. */
function withComputed(input: ResolvedQuery, columns: readonly ComputedColumn[]): ResolvedQuery {
  if (columns.length === 0) return input;
  const { relation } = input;
  if (relation.kind === 'compute')
    return { ...input, relation: { ...relation, columns: [...relation.columns, ...columns] } };
  return { ...input, relation: { kind: 'compute', input: relation, columns } };
}
