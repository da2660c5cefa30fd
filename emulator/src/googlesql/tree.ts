import { fromProto, type NamedType, type SqlType } from './types';
import type { PartialDecoder } from './partial-decoder';
import type { Message } from './protocol';

/** A place in a text, in UTF-8 bytes, end exclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** One reading of a table of the catalogue. */
export interface TableRead {
  /** The full name it is registered under. */
  readonly table: string;
  /** Where its path stands, where the tree says so. */
  readonly range: ByteRange | null;
  /** The alias that the query gives it; '' where it gives none. */
  readonly alias: string;
  /** Positions of the table's columns that the query reads. */
  readonly columns: readonly number[];
}

/** What a resolved statement says about itself. */
export interface Resolved {
  /** The engine's name of the statement's kind: `query`, `insert`, `create_table`, ... */
  readonly statement: string;
  /** Output columns of a query; unnamed ones as the engine names them, `$col1`. Empty for other statements. */
  readonly columns: readonly NamedType[];
  /** True for SELECT AS STRUCT and AS VALUE: the one column is the row. */
  readonly isValueTable: boolean;
  readonly reads: readonly TableRead[];
  /** Lower-case names of functions and operators (`$add`), each once; a custom function by its full name. */
  readonly functions: readonly string[];
  /** Table functions, models, connections and system variables, each once, as `kind name`. */
  readonly others: readonly string[];
  /** Parameters read, in the order of the text, with the type used; a name is lower case. */
  readonly parameters: ReadonlyMap<string, SqlType>;
}

/** Reads a resolved statement as `PartialDecoder` gives it. */
export function readTree(statement: Message, decoder: PartialDecoder): Resolved {
  const kind = onlyNode(statement);
  const reads: TableRead[] = [];
  const functions = new Set<string>();
  const others = new Set<string>();
  const parameters: { name: string; type: SqlType; start: number }[] = [];

  const stack: Message[] = [statement];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    for (const key in node) {
      const value = node[key];
      if (typeof value !== 'object' || value === null || value instanceof Uint8Array) continue;
      if (Array.isArray(value)) {
        for (let i = value.length - 1; i >= 0; i--) {
          const item: unknown = value[i];
          if (typeof item === 'object' && item !== null && !(item instanceof Uint8Array)) stack.push(item as Message);
        }
        continue;
      }
      const child = value as Message;
      stack.push(child);
      if (key === 'resolved_table_scan_node') reads.push(tableRead(child, decoder));
      else if (key === 'function') functions.add(functionName(child));
      else if (key === 'resolved_parameter_node') {
        parameters.push({
          name: String(child['name']).toLowerCase(),
          type: expressionType(child, decoder),
          start: placeOf(child, decoder)?.start ?? 0,
        });
      } else if (key === 'tvf') others.add(`table function ${String(child['name'])}`);
      else if (key === 'model') others.add(`model ${String(child['name'])}`);
      else if (key === 'connection') others.add(`connection ${String(child['name'])}`);
      else if (key === 'sequence') others.add(`sequence ${String(child['name'])}`);
      else if (key === 'constant') others.add(`constant ${String(child['name'])}`);
      else if (key === 'resolved_system_variable_node')
        others.add(`system variable @@${(child['name_path'] as string[]).join('.')}`);
    }
  }
  return {
    statement: kind.name.replace(/^resolved_|_stmt_node$/g, ''),
    columns: kind.name === 'resolved_query_stmt_node' ? outputColumns(kind.node, decoder) : [],
    isValueTable: Boolean(kind.node['is_value_table']),
    reads,
    functions: [...functions],
    others: [...others],
    parameters: new Map(parameters.sort((a, b) => a.start - b.start).map(({ name, type }) => [name, type])),
  };
}

/** The one node that an `Any...` message of the protocol holds, through as many layers as it takes. */
function onlyNode(message: Message): { name: string; node: Message } {
  const name = String(message['node']);
  const node = message[name] as Message;
  return typeof node['node'] === 'string' ? onlyNode(node) : { name, node };
}

function outputColumns(query: Message, decoder: PartialDecoder): NamedType[] {
  return ((query['output_column_list'] ?? []) as Message[]).map((output) => ({
    name: String(output['name'] ?? ''),
    type: typeOf(output['column'] as Message, decoder),
  }));
}

function typeOf(node: Message, decoder: PartialDecoder): SqlType {
  return fromProto(decoder.whole('TypeProto', node['type'] as Uint8Array));
}

/** A node's ancestors are nested as `parent`; the innermost holds the place. */
function placeOf(node: Message, decoder: PartialDecoder): ByteRange | null {
  for (let at: Message | undefined = node; at !== undefined; at = at['parent'] as Message | undefined) {
    const bytes = at['parse_location_range'] as Uint8Array | undefined;
    if (bytes === undefined) continue;
    const range = decoder.whole('ParseLocationRangeProto', bytes);
    return { start: Number(range['start']), end: Number(range['end']) };
  }
  return null;
}

function expressionType(node: Message, decoder: PartialDecoder): SqlType {
  for (let at: Message | undefined = node; at !== undefined; at = at['parent'] as Message | undefined) {
    if (at['type'] !== undefined) return typeOf(at, decoder);
  }
  return { kind: 'INT64' };
}

function tableRead(scan: Message, decoder: PartialDecoder): TableRead {
  const table = scan['table'] as Message;
  return {
    table: String(table['full_name'] ?? table['name']),
    range: placeOf(scan, decoder),
    alias: String(scan['alias'] ?? ''),
    columns: (scan['column_index_list'] ?? []) as number[],
  };
}

/** `ZetaSQL:concat` is built in; anything else carries the group it was registered with. */
function functionName(reference: Message): string {
  const name = String(reference['name']);
  const colon = name.indexOf(':');
  return (colon < 0 ? name : name.slice(colon + 1)).toLowerCase();
}
