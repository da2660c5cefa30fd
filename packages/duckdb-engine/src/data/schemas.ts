import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';

import { MOST_OF_LIST, readBounded } from '../files';
import { parseRestSchema, type RestField, RestSchemaError } from '@logquay/googlesql/types';
import { codeOf, DataFault, messageOf } from '../engine/native-error';
import { REST_FIELD } from './rest';

/** What is declared of a table. */
export interface DeclaredTable {
  readonly fields: readonly RestField[];
  /** Whether it takes what is not declared, too: unknown fields in `_rest`, NULL for what does not fit. */
  readonly open: boolean;
}

/** What is declared beside the data folder, as of `DuckDbOptions`. */
interface DeclaredBeside {
  readonly declared: ReadonlyMap<string, readonly RestField[]>;
  readonly schemaFile?: string | null;
}

export type DeclaredTables = ReadonlyMap<string, DeclaredTable>;

/** What is declared where a data folder is followed: the folder's own file as it was at the start, the other one as it is. */
export class Declarations {
  #tables: DeclaredTables;
  #fault: string | null = null;

  private constructor(
    private readonly own: DeclaredTables,
    private readonly declared: DeclaredBeside['declared'],
    private readonly path: string | null,
    private file: SchemaFile | null,
    tables: DeclaredTables,
  ) {
    this.#tables = combined(declared, tables, own);
  }

  /** @throws DataFault for a file that is no schema */
  static async of(dataDir: string, { declared, schemaFile = null }: DeclaredBeside): Promise<Declarations> {
    const own = await readSchema(schemaFileOf(dataDir));
    if (schemaFile === null) return new Declarations(own, declared, null, null, new Map());
    const file = await SchemaFile.of(schemaFile);
    return new Declarations(own, declared, schemaFile, file, await readSchema(schemaFile));
  }

  get tables(): DeclaredTables {
    return this.#tables;
  }

  /** Takes up the other file as it is by now. @returns what is wrong with it, so that it counts as it was before; null: nothing */
  async look(): Promise<string | null> {
    if (this.path === null || this.file === null || !(await this.file.isChanged())) return this.#fault;
    this.file = await SchemaFile.of(this.path).catch(() => this.file);
    try {
      this.#tables = combined(this.declared, await readSchema(this.path), this.own);
      this.#fault = null;
    } catch (error) {
      this.#fault = `${messageOf(error)}: it counts as it was before.`;
    }
    return this.#fault;
  }
}

function combined(declared: DeclaredBeside['declared'], ...files: readonly DeclaredTables[]): DeclaredTables {
  const before = Array.from(declared, ([name, fields]) => [name, { fields, open: false }] as const);
  return new Map([...before, ...files.flatMap((tables) => [...tables])]);
}

/**
 * The tables that are declared: those of `schema.json` in DATA_DIR, those of the other such file, and others.
 *
 * @throws DataFault for a file that is no schema.
 */
export async function describedTables(dataDir: string, options: DeclaredBeside): Promise<DeclaredTables> {
  return (await Declarations.of(dataDir, options)).tables;
}

export function schemaFileOf(folder: string): string {
  return join(folder, 'schema.json');
}

/** The tables of a file as `{"<table>": {"fields": [...], "open": true}}`. @throws DataFault where it is no such file */
async function readSchema(path: string): Promise<DeclaredTables> {
  let text: string;
  try {
    text = (await readBounded(path, MOST_OF_LIST)).toString();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return new Map();
    throw new DataFault(`${path}: cannot be read (${codeOf(error)})`);
  }
  let tables: unknown;
  try {
    tables = JSON.parse(text);
  } catch {
    throw new DataFault(`${path}: is not valid JSON`);
  }
  if (typeof tables !== 'object' || tables === null || Array.isArray(tables)) {
    throw new DataFault(`${path}: must be an object {"<table>": {"fields": [...]}}`);
  }
  try {
    return new Map(Object.entries(tables).map(([table, schema]) => [table, declaredTable(schema, table)]));
  } catch (error) {
    throw error instanceof RestSchemaError ? new DataFault(`${path}: ${error.message}`) : error;
  }
}

/** @throws RestSchemaError */
function declaredTable(schema: unknown, table: string): DeclaredTable {
  const fields = keepable(parseRestSchema(schema, table));
  const { open = false } = schema as { readonly open?: unknown };
  if (typeof open !== 'boolean') throw new RestSchemaError(`${table}.open: must be true or false`);
  if (!open) return { fields, open };
  const others = fields.filter(({ name }) => name !== REST_FIELD.name);
  // No row is left out for what it has not.
  return { fields: [...others.map(asNullable), REST_FIELD], open };
}

function asNullable(field: RestField): RestField {
  const mode = field.mode === 'REQUIRED' ? 'NULLABLE' : field.mode;
  return { ...field, mode, fields: field.fields.map(asNullable) };
}

/** INTERVAL and RANGE are types of results; a JSON file has no form for an INTERVAL that BigQuery would load. */
function keepable(fields: readonly RestField[], path = ''): readonly RestField[] {
  for (const field of fields) {
    if (field.type === 'INTERVAL' || field.type === 'RANGE')
      throw new RestSchemaError(`${path}${field.name}: ${field.type} columns are not supported`);
    keepable(field.fields, `${path}${field.name}.`);
  }
  return fields;
}

/** A `schema.json` as it was when it was read. */
export class SchemaFile {
  #identity: string | null = null;
  #isChanged = false;

  private constructor(
    private readonly path: string,
    /** Digest of its content; null: there was none. */
    private readonly content: string | null,
  ) {}

  static async of(path: string): Promise<SchemaFile> {
    return new SchemaFile(path, await digestOf(path));
  }

  /** Whether its content is another one by now. What cannot be read for now is as it was. */
  async isChanged(): Promise<boolean> {
    try {
      const identity = await identityOf(this.path);
      if (identity !== this.#identity) this.#isChanged = (await digestOf(this.path)) !== this.content;
      this.#identity = identity;
    } catch {
      // A later look shows it.
    }
    return this.#isChanged;
  }
}

async function identityOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return `${ino}:${size}:${mtimeNs}:${ctimeNs}`;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  }
}

async function digestOf(path: string): Promise<string | null> {
  try {
    return createHash('sha256')
      .update(await readBounded(path, MOST_OF_LIST))
      .digest('hex');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}
