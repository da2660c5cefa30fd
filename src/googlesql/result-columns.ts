import type { ResolvedQuery } from './resolved';
import type { NamedType } from './types';

/**
 * The columns of a query's result as a client sees them: one without a name is `f0_`, `f1_`, …; the fields of SELECT AS
 * STRUCT are columns.
 */
export function resultColumns({ output, valueTable }: ResolvedQuery): NamedType[] {
  const type = output[0]?.column.type;
  const columns =
    valueTable && type?.kind === 'STRUCT'
      ? type.fields
      : output.map(({ name, column }) => ({ name, type: column.type }));
  let unnamed = 0;
  return columns.map((column) => ({ name: column.name ?? `f${unnamed++}_`, type: column.type }));
}
