import { findFunction, signaturesOf, type Parameter, type Pattern } from '../../../packages/googlesql/src/face/index';
import { type GoogleSqlEngine } from './engine';
import type { Message } from './protocol';
import { toProto, TYPE_ALIASES, type NamedType, type SqlType } from './types';

/** A table as queries may name it. */
export interface CatalogueTable {
  /** What the tree reports: `project.dataset.table`, or a bare name. */
  readonly fullName: string;
  /** Every path that names it, part by part: `['raw']`, `['logs', 'raw']`. A part with dots in it is one back-quoted name. */
  readonly paths: readonly (readonly string[])[];
  readonly columns: readonly NamedType[];
  /** The last column can be named, and is no part of `*`. */
  readonly lastIsPseudo?: boolean;
}

/** A function of the catalogue: a path, argument types and a result. `'ANY'` takes any type. */
export interface CatalogueFunction {
  readonly path: readonly string[];
  readonly arguments: readonly (SqlType | 'ANY')[];
  readonly result: SqlType;
}

/** Functions of BigQuery that the engine does not know: with the signatures that the service has for them. */
const MISSING = [
  'CONTAINS_SUBSTR',
  'COSINE_DISTANCE',
  'EDIT_DISTANCE',
  'EUCLIDEAN_DISTANCE',
  'JSON_KEYS',
  'MAX_BY',
  'MIN_BY',
  'SEARCH',
];

export interface CatalogueModel {
  readonly name: string;
  readonly input: readonly NamedType[];
  readonly output: readonly NamedType[];
}

export interface CatalogueDefinition {
  readonly tables: readonly CatalogueTable[];
  readonly functions?: readonly CatalogueFunction[];
  readonly tableFunctions?: readonly { readonly path: readonly string[]; readonly columns: readonly NamedType[] }[];
  readonly models?: readonly CatalogueModel[];
  /** Rows by full name, as the protocol's `ValueProto` cells. Only a table with a path of one part is found with its rows. */
  readonly rows?: ReadonlyMap<string, readonly (readonly Message[])[]>;
}

/** A catalogue held by the engine, so that it is not sent with every query. */
export class RegisteredCatalogue {
  private id: { generation: number; value: Promise<string> } | null = null;

  constructor(
    private readonly engine: GoogleSqlEngine,
    private readonly definition: CatalogueDefinition,
  ) {}

  /** The engine's number for it. Registers it on first use, and again after the engine was started anew. */
  reference(): Promise<string> {
    if (this.id?.generation !== this.engine.generation)
      this.id = { generation: this.engine.generation, value: this.register() };
    return this.id.value;
  }

  /** Lets the engine forget it. */
  async release(): Promise<void> {
    const id = this.id;
    this.id = null;
    if (id === null || id.generation !== this.engine.generation) return;
    const value = await id.value.catch(() => null);
    if (value !== null) await this.engine.call('UnregisterCatalog', { registered_id: value }).catch(() => undefined);
  }

  private async register(): Promise<string> {
    const generation = this.engine.generation;
    const language = await this.engine.language();
    const content: Record<string, Message> = {};
    for (const table of this.definition.tables) {
      const rows = this.definition.rows?.get(table.fullName);
      if (rows === undefined) continue;
      for (const path of table.paths)
        if (path.length === 1) content[path[0] ?? ''] = { table_data: { row: rows.map((cell) => ({ cell })) } };
    }
    const simple_catalog = {
      ...catalogueProto(this.definition),
      builtin_function_options: { language_options: language },
    };
    try {
      const reply = await this.engine.call('RegisterCatalog', { simple_catalog, table_content: content });
      return String(reply['registered_id']);
    } catch (error) {
      if (this.id?.generation === generation) this.id = null;
      throw error;
    }
  }
}

interface Folder {
  tables: Message[];
  functions: Message[];
  folders: Map<string, Folder>;
}

function catalogueProto(definition: CatalogueDefinition): Message {
  const root: Folder = { tables: [], functions: [], folders: new Map() };
  definition.tables.forEach((table, index) => {
    for (const path of table.paths) {
      folderOf(root, path).tables.push({
        name: path.at(-1),
        full_name: table.fullName,
        serialization_id: String(index),
        column: table.columns.map(({ name, type }, i) => ({
          name,
          type: toProto(type),
          is_pseudo_column: table.lastIsPseudo === true && i === table.columns.length - 1,
        })),
      });
    }
  });
  root.functions.push(...MISSING.map(missingProto));
  for (const f of definition.functions ?? []) folderOf(root, f.path).functions.push(functionProto(f));
  return {
    ...folderProto('bigquery', root),
    named_type: Object.entries(TYPE_ALIASES).map(([name, kind]) => ({ name, type: toProto({ kind }) })),
    model: (definition.models ?? []).map((model, id) => ({
      id: String(id),
      name: model.name,
      input: model.input.map((c) => ({ name: c.name, type: toProto(c.type) })),
      output: model.output.map((c) => ({ name: c.name, type: toProto(c.type) })),
    })),
    custom_tvf: (definition.tableFunctions ?? []).map((f) => ({
      name_path: f.path,
      type: 'FIXED_OUTPUT_SCHEMA_TVF',
      signature: {
        return_type: {
          kind: 'ARG_TYPE_RELATION',
          options: {
            relation_input_schema: { column: f.columns.map((c) => ({ name: c.name, type: toProto(c.type) })) },
          },
          num_occurrences: 1,
        },
      },
    })),
  };
}

function folderOf(root: Folder, path: readonly string[]): Folder {
  let folder = root;
  for (const part of path.slice(0, -1)) {
    const known = folder.folders.get(part);
    const next = known ?? { tables: [], functions: [], folders: new Map() };
    if (known === undefined) folder.folders.set(part, next);
    folder = next;
  }
  return folder;
}

function folderProto(name: string, folder: Folder): Message {
  return {
    name,
    table: folder.tables,
    custom_function: folder.functions,
    catalog: [...folder.folders].map(([child, inner]) => folderProto(child, inner)),
  };
}

function missingProto(name: string): Message {
  const known = findFunction(name);
  if (known === undefined) throw new Error(`The service has no ${name}`);
  const signature = signaturesOf(known).map(({ parameters, result }, i) => ({
    argument: parameters.map(parameterProto),
    return_type: { ...patternProto(result), num_occurrences: 1 },
    context_id: String(i),
  }));
  return { name_path: [name.toLowerCase()], group: 'Custom', mode: known.mode.toUpperCase(), signature };
}

function parameterProto({ pattern, cardinality, name, namedOnly }: Parameter): Message {
  const named = namedOnly ? { argument_name: name, named_argument_kind: 'NAMED_ONLY' } : {};
  return {
    ...patternProto(pattern),
    num_occurrences: cardinality === 'required' ? 1 : -1,
    options: { cardinality: cardinality.toUpperCase(), ...named },
  };
}

function patternProto(pattern: Pattern): Message {
  if (pattern.kind === 'fixed') return { kind: 'ARG_TYPE_FIXED', type: toProto(pattern.type) };
  return { kind: pattern.kind === 'template' ? pattern.name.replace('T', 'ARG_TYPE_ANY_') : 'ARG_TYPE_ARBITRARY' };
}

function functionProto(f: CatalogueFunction): Message {
  const argument = (type: SqlType | 'ANY') =>
    type === 'ANY'
      ? { kind: 'ARG_TYPE_ARBITRARY', num_occurrences: 1 }
      : { kind: 'ARG_TYPE_FIXED', type: toProto(type), num_occurrences: 1 };
  return {
    name_path: f.path,
    group: 'Custom',
    mode: 'SCALAR',
    signature: [{ argument: f.arguments.map(argument), return_type: argument(f.result), context_id: '0' }],
  };
}
