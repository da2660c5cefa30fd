/** SET, DROP and RENAME: columns by their names alone. Table aliases go on to reach the rows as they were. */
import type { Column } from '../resolved';
import type { Identifier, PipeDrop, PipeRename, PipeSet } from '../tree';
import { lookup, type NameList, type NamedColumn, type Scope } from './scope';
import { invalid } from './session';
import { unknownField } from './suggestion';

const VERBS = { SET: 'update', DROP: 'drop', RENAME: 'rename' } as const;
type Operator = keyof typeof VERBS;

/** @param columns the new ones, in the order of the operator's items */
export function setColumns(list: NameList, { items }: PipeSet, columns: readonly Column[], scope: Scope): NameList {
  const names = uniqueNames(
    'SET',
    items.map(({ column }) => column),
  );
  for (const name of names.values()) {
    const found = columnsNamed(list, name);
    if (found.length > 1)
      throw invalid(`Column name in pipe SET exists more than once in input table: ${name.name}.`, name.span);
    if (found.length === 0) throw notAColumn('SET', name, list, scope);
  }
  const replacement = new Map(items.map(({ column }, i) => [column.name.toLowerCase(), columns[i]]));
  return list.replaced((named) => {
    const column = replacement.get(named.name?.toLowerCase() ?? '');
    return column === undefined ? named : { ...named, column, valueTable: false, hidden: new Set() };
  }, new Set(names.keys()));
}

export function dropColumns(list: NameList, { columns, span }: PipeDrop, scope: Scope): NameList {
  const names = uniqueNames('DROP', columns);
  for (const name of names.values())
    if (columnsNamed(list, name).length === 0) throw notAColumn('DROP', name, list, scope);
  const dropped = list.replaced(
    (named) => (names.has(named.name?.toLowerCase() ?? '') ? null : named),
    new Set(names.keys()),
  );
  if (dropped.columns.length === 0) throw invalid('Pipe DROP dropped all columns in the input table.', span);
  return dropped;
}

export function renameColumns(list: NameList, { items }: PipeRename, scope: Scope): NameList {
  const names = uniqueNames(
    'RENAME',
    items.map(({ from }) => from),
  );
  for (const name of names.values()) {
    const found = columnsNamed(list, name);
    if (found.length > 1)
      throw invalid(`Column name in pipe RENAME exists more than once in input table: ${name.name}.`, name.span);
    const target = lookup(scope, name.name);
    const isColumn = target?.kind === 'column' || (target?.kind === 'range' && found[0]?.valueTable === true);
    if (found.length === 0 || !isColumn || target.kind === 'range') throw notAColumn('RENAME', name, list, scope);
  }
  const renamed = new Map(items.map(({ from, to }) => [from.name.toLowerCase(), to.name]));
  return list.replaced((named) => {
    const name = renamed.get(named.name?.toLowerCase() ?? '');
    return name === undefined ? named : { ...named, name };
  });
}

function uniqueNames(operator: Operator, names: readonly Identifier[]): Map<string, Identifier> {
  const unique = new Map<string, Identifier>();
  for (const name of names) {
    const key = name.name.toLowerCase();
    if (unique.has(key)) throw invalid(`Duplicate column name in pipe ${operator}: ${name.name}.`, name.span);
    unique.set(key, name);
  }
  return unique;
}

function columnsNamed(list: NameList, { name }: Identifier): NamedColumn[] {
  return list.columns.filter((column) => column.name?.toLowerCase() === name.toLowerCase());
}

function notAColumn(operator: Operator, { name, span }: Identifier, list: NameList, scope: Scope): Error {
  const target = lookup(scope, name);
  const only = `${operator} can only ${VERBS[operator]} columns: ${name}.`;
  switch (target?.kind) {
    case 'range':
      return invalid(`Name in pipe ${operator} is a table alias; ${only}`, span);
    case 'field':
      return invalid(`Name in pipe ${operator} is a field inside a value table; ${only}`, span);
    case 'ambiguous':
      return invalid(`Name in pipe ${operator} is ambiguous; ${only}`, span);
    case 'column':
    case 'alias':
    case 'refused':
      return invalid(`Name in pipe ${operator} is present but is not a column on the pipe input table; ${only}`, span);
    case undefined:
      return unknownField(
        `Column name in pipe ${operator} not found in input table: ${name}.`,
        name,
        span,
        list.columns.flatMap((column) => (column.name === null ? [] : [column.name])),
      );
  }
}
