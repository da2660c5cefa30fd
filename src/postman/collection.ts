import { createHash } from 'node:crypto';

import { type DescribedEndpoint, lqlExample } from '../openapi';
import { catalogueEntry, csvRequest, getRequest, lqlRequest, postRequest, probe, sqlRequest } from './requests';

/** A folder or a request of a collection, as far as this service writes them (Postman's format 2.1). */
export type Item = Folder | RequestItem;

interface Folder {
  readonly name: string;
  readonly description?: string;
  readonly item: readonly Item[];
}

export interface RequestItem {
  readonly name: string;
  readonly request: {
    readonly method: 'GET' | 'POST';
    readonly description?: string;
    readonly auth?: { readonly type: 'noauth' };
    readonly header: readonly { readonly key: string; readonly value: string }[];
    readonly url: {
      readonly raw: string;
      readonly host: readonly string[];
      readonly path: readonly string[];
      readonly query?: readonly QueryParameter[];
    };
    readonly body?: {
      readonly mode: 'raw';
      readonly raw: string;
      readonly options: { readonly raw: { readonly language: 'json' } };
    };
  };
  readonly event: readonly {
    readonly listen: 'test';
    readonly script: { readonly type: 'text/javascript'; readonly exec: readonly string[] };
  }[];
}

export interface QueryParameter {
  readonly key: string;
  readonly value: string;
  readonly description: string;
  readonly disabled?: boolean;
}

/** What an environment of Postman holds. */
export interface PostmanEnvironment {
  readonly id: string;
  readonly name: string;
  readonly values: readonly { key: string; value: string; type: 'default' | 'secret'; enabled: true }[];
  readonly _postman_variable_scope: 'environment';
}

/**
 * The endpoints as a collection: a folder for each, with a request for each way to ask it, and tests that look at status
 * and shape. The same endpoints give the same text. `baseUrl` and `key` come from an environment; the former has a value
 * here too.
 */
export function postmanCollection(endpoints: readonly DescribedEndpoint[], baseUrl: string): object {
  return {
    info: {
      _postman_id: idOf('collection'),
      name: 'Logquay',
      description: 'Saved analytical SQL over logs as read endpoints. Made by `npm run postman` from the catalogue.',
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: {
      type: 'apikey',
      apikey: [
        { key: 'key', value: 'X-API-KEY', type: 'string' },
        { key: 'value', value: '{{key}}', type: 'string' },
        { key: 'in', value: 'header', type: 'string' },
      ],
    },
    variable: [{ key: 'baseUrl', value: baseUrl }],
    item: [
      ...endpoints.map(folderOf),
      { name: 'Catalogue', item: [catalogueEntry(null), ...endpoints.map(({ name }) => catalogueEntry(name))] },
      { name: 'Probes', item: [probe('health', 'ok'), probe('ready', 'ready')] },
    ],
  };
}

function folderOf(endpoint: DescribedEndpoint): Folder {
  const { name, description, tables, sqlByRight } = endpoint;
  // Where redaction is forced, a key may or may not send queries of its own: a collection for all leaves them out.
  const ownQueries = tables.length > 0 && !sqlByRight;
  return {
    name,
    ...(description === '' ? {} : { description }),
    item: [
      getRequest(endpoint),
      csvRequest(endpoint),
      postRequest(endpoint),
      ...(ownQueries ? [sqlRequest(endpoint)] : []),
      ...(ownQueries && lqlExample(endpoint) !== null ? [lqlRequest(endpoint)] : []),
    ],
  };
}

/** The environment beside it. @param key empty: to be filled in by hand */
export function postmanEnvironment(baseUrl: string, key: string): PostmanEnvironment {
  return {
    id: idOf('environment'),
    name: 'Logquay',
    values: [
      { key: 'baseUrl', value: baseUrl, type: 'default', enabled: true },
      { key: 'key', value: key, type: 'secret', enabled: true },
    ],
    _postman_variable_scope: 'environment',
  };
}

/** A UUID that is always the same, so that an import replaces what an earlier one made (RFC 9562, version 8). */
function idOf(what: string): string {
  const hex = createHash('sha256').update(`logquay ${what}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
