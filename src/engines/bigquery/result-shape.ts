/** What a result's schema makes of it: the columns, and the writer of its rows, compiled once per schema. */
import { LRUCache } from 'lru-cache';
import { QueryError } from '../../errors';
import { columnsOf, parseRestSchema, RestSchemaError } from '../../googlesql/rest-schema';
import type { NamedType } from '../../googlesql/types';
import { malformedAnswer } from './api-failure';
import { rowWriter, type ValueForm } from './row-writer';

export interface ResultShape {
  readonly columns: readonly NamedType[];
  readonly write: (row: unknown) => string;
}

const PLAIN: ValueForm = { hideBytes: false, isoTimestamps: false };

const SHAPES = new LRUCache<string, ResultShape>({ max: 500 });

/**
 * @param fields `schema.fields` as it came
 * @throws ApiFailure for what is no schema, or an empty one: every SELECT has a column; QueryError `invalidQuery` for two
 *   columns of one name
 */
export function resultShape(fields: unknown, form = PLAIN): ResultShape {
  const key = `${form.hideBytes} ${form.isoTimestamps} ${JSON.stringify(fields)}`;
  const known = SHAPES.get(key);
  if (known !== undefined) return known;
  refuseDuplicates(fields);
  try {
    const parsed = parseRestSchema(fields, 'result');
    const shape = { columns: columnsOf(parsed), write: rowWriter(parsed, form) };
    SHAPES.set(key, shape);
    return shape;
  } catch (error) {
    if (error instanceof RestSchemaError) throw malformedAnswer(error.message);
    throw error;
  }
}

/** BigQuery refuses them itself; services that stand in for it may not (docs/http.md). */
function refuseDuplicates(fields: unknown): void {
  const seen = new Set<string>();
  for (const field of Array.isArray(fields) ? (fields as readonly ({ name?: unknown } | null)[]) : []) {
    const name = String(field?.name).toLowerCase();
    if (seen.has(name)) {
      throw new QueryError('invalidQuery', 'Two columns of the result have one name. Give one an alias.', null);
    }
    seen.add(name);
  }
}
