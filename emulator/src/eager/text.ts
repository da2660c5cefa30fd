/**
 * `--eager`: the text of a query as one that is evaluated in another order. It is read, resolved and printed by the
 * service's own GoogleSQL, which tests hold to this engine.
 */
import { parseQuery, COMPOSED_BOUNDS } from '../../../packages/googlesql/src/face/syntax';
import { printQuery, resolveQuery } from '../../../packages/googlesql/src/face/index';
import { type NamedType } from '../googlesql/types';
import { BigQueryError } from '../query/error';
import { evaluateEagerly } from './eager';

/** A table by the one name that the text has for it. */
export interface EagerTable {
  readonly name: string;
  readonly columns: readonly NamedType[];
}

/** @throws BigQueryError `notImplemented` for what the service's GoogleSQL does not read */
export function eagerText(sql: string, tables: readonly EagerTable[], parameters: readonly NamedType[]): string {
  const schemas = new Map(tables.map((table) => [table.name, table]));
  try {
    const query = resolveQuery(parseQuery(sql, COMPOSED_BOUNDS), sql, {
      findTable: (path) => (path.length === 1 ? schemas.get(path[0]?.name ?? '') : undefined),
      parameters: new Map(parameters.map(({ name, type }) => [name.toLowerCase(), type])),
    });
    return printQuery(evaluateEagerly(query)).sql;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new BigQueryError('notImplemented', `The local BigQuery cannot evaluate this eagerly: ${message}`);
  }
}
