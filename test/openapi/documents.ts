import type { Key } from '../../src/keys/key';
import { type ColumnsOf, describeEndpoints, type Readers } from '../../src/openapi/described';
import { openApiDocument } from '../../src/openapi/document';
import type { Document, Operation, Parameter } from '../../src/openapi/schema';
import { ALL, keyWith, ON_BIGQUERY, ON_DUCKDB } from './endpoints';

/** The document for these readers. */
export function documentOf(
  endpoints = ALL,
  readers: Readers = ON_DUCKDB,
  access: 'open' | 'key' = 'open',
  columnsOf?: ColumnsOf,
): Document {
  return openApiDocument(describeEndpoints(endpoints, readers, columnsOf), readers, access);
}

/** Readers with one key. */
export const forKey = (what: Partial<Key>, readers = ON_BIGQUERY): Readers => ({ ...readers, key: keyWith(what) });

export function operation(document: Document, name: string, method: 'get' | 'post' = 'get'): Operation {
  const found = document.paths[`/api/endpoints/query/${name}`]?.[method];
  if (found === undefined) throw new Error(`No ${name}`);
  return found;
}

export const parameters = ({ parameters = [] }: Operation): Parameter[] =>
  parameters.flatMap((one) => ('name' in one ? one : []));
export const parameter = (document: Document, endpoint: string, name: string): Parameter | undefined =>
  parameters(operation(document, endpoint)).find((one) => one.name === name);
/** The endpoints of a document. */
export const names = (document: Document): string[] =>
  Object.keys(document.paths).flatMap((one) => /query\/(.*)/.exec(one)?.[1] ?? []);
