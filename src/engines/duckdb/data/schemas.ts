import { join } from 'node:path';

import { MOST_OF_LIST, readBounded } from '../../../files';
import { parseRestSchema, RestSchemaError, type RestField } from '../../../googlesql/rest-schema';
import { codeOf } from '../engine/native-error';
import type { DuckDbOptions } from '../engine/options';
import { DataFault } from './data-fault';

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
