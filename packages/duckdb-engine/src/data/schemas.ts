import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';

import { MOST_OF_LIST, readBounded } from '../files';
import { parseRestSchema, type RestField, RestSchemaError } from '@logquay/googlesql/types';
import { codeOf, DataFault } from '../engine/native-error';
import type { DuckDbOptions } from '../engine/options';

/**
 * The tables that are described: those of `schema.json` in DATA_DIR (`{"<table>": {"fields": [...]}}`), and the
 * declared ones that it leaves out.
 *
 * @throws DataFault for a file that is no schema.
 */
export async function describedTables(
  dataDir: string,
  declared: DuckDbOptions['declared'],
): Promise<Map<string, readonly RestField[]>> {
  const described = new Map(declared);
  const path = join(dataDir, 'schema.json');
  let text: string;
  try {
    text = (await readBounded(path, MOST_OF_LIST)).toString();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return described;
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
  for (const [table, schema] of Object.entries(tables)) {
    try {
      described.set(table, keepable(parseRestSchema(schema, table)));
    } catch (error) {
      throw error instanceof RestSchemaError ? new DataFault(`${path}: ${error.message}`) : error;
    }
  }
  return described;
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

/** `schema.json` as it was at the start, which is how it counts. */
export class SchemaFile {
  #identity: string | null = null;
  #isChanged = false;

  private constructor(
    private readonly path: string,
    /** Digest of its content; null: there was none. */
    private readonly content: string | null,
  ) {}

  static async of(dataDir: string): Promise<SchemaFile> {
    const path = join(dataDir, 'schema.json');
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
