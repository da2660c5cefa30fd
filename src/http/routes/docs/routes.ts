import { LRUCache } from 'lru-cache';

import { visibleTo } from '../../../endpoints/catalogue';
import type { Endpoint } from '../../../endpoints/endpoint';
import { ServiceError } from '../../../errors';
import type { NamedType } from '@logquay/googlesql/types';
import { ClaimedValue, type Key, presentsKey } from '../../../keys/key';
import { type DescribedEndpoint, describeEndpoints, type Readers } from '../../../openapi/described';
import { openApiDocument } from '../../../openapi/document';
import type { DocsAccess } from '../../../openapi/service-paths';
import { EncodedResponse } from '../../../rendering/encoded-response';
import { namesType, takesType } from '../../../rendering/representation';
import { authenticate, maySeeSchema, readsDeclaredTables } from '../../../run/authorise';
import type { Services } from '../../../run/services';
import type { Exchange } from '../../exchange';
import { conditionalResponse } from '../../response/conditional';
import { docsPage, PAGE_POLICY } from './page';

/** Milliseconds that describing all endpoints may take; the others are then described without their columns. */
const PATIENCE = 5_000;

/** Columns of stored queries by endpoint. */
export interface StoredColumns {
  readonly columnsOf: (endpoint: Endpoint) => readonly NamedType[] | null;
  /** Whether the engine has answered for each. */
  readonly complete: boolean;
}

/** What the analyses know of these endpoints, one after the other: documentation never takes all of an engine. */
export async function storedColumns(
  endpoints: readonly Endpoint[],
  { analyses }: Pick<Services, 'analyses'>,
): Promise<StoredColumns> {
  const limits = { deadline: performance.now() + PATIENCE, signal: AbortSignal.timeout(PATIENCE) };
  const known = new Map<Endpoint, readonly NamedType[] | null>();
  let complete = true;
  for (const endpoint of endpoints) {
    const late = performance.now() > limits.deadline;
    const analysis = late ? null : await analyses.of(endpoint, limits).catch(() => null);
    if (analysis === null) complete = false;
    known.set(endpoint, (analysis ?? analyses.latest(endpoint))?.columns ?? null);
  }
  return { columnsOf: (endpoint) => known.get(endpoint) ?? null, complete };
}

/** Contents depend on the key and change with the stored queries: clients revalidate. */
const VARY = { open: 'Accept, Accept-Encoding', key: 'Accept, Accept-Encoding, X-API-KEY, Authorization' };

/** Milliseconds after which the document is generated again: tables may have changed, or an engine that was away is back. */
const MAX_AGE = { complete: 600_000, incomplete: 10_000 };

/** The documentation for one key and one state of the catalogue, generated on first request. */
interface Documents {
  openApi?: Promise<OpenApi>;
  page?: EncodedResponse;
}

interface OpenApi {
  readonly response: EncodedResponse;
  /** Milliseconds of `performance.now()`. */
  readonly expires: number;
}

/** Documents of one catalogue: keys that may do the same read the same one, and of tokens there are many. */
const MOST_DOCUMENTS = 100;

/** All of a key that a document depends on. */
function rightsOf(key: Key): string {
  const { endpoints, pins, redact, allowSql, refusesSql = false, export: mayExport, operator, issuer } = key;
  const pinned = [...pins].map(([name, pin]) => [name, pin instanceof ClaimedValue ? 'claim' : typeof pin]);
  const isToken = issuer !== undefined;
  return JSON.stringify([endpoints, pinned.sort(), redact, allowSql, refusesSql, mayExport, operator, isToken]);
}

/**
 * `/openapi.json` and `/docs`, generated from the current catalogue. With `open` they describe every endpoint to everybody;
 * with `key` they describe to the holder of a key what it may run.
 */
export class DocsRoutes {
  /** By the catalogue's list, which is a new object after every change, and by what a key may do. */
  readonly #documents = new WeakMap<readonly Endpoint[], LRUCache<string, Documents>>();
  readonly #shell: EncodedResponse;

  constructor(
    private readonly access: DocsAccess,
    private readonly explorer: boolean,
  ) {
    this.#shell = finish(docsPage(null, access, explorer));
  }

  /** `GET /openapi.json` */
  async answerOpenApi(exchange: Exchange, services: Services): Promise<void> {
    const key = this.#authenticate(exchange, services);
    checkAccept(exchange, 'application/json');
    const documents = this.#documentsFor(key, services);
    const response = await this.#openApi(documents, key, services);
    await this.#answer(exchange, response, 'application/json; charset=utf-8');
  }

  /**
   * `GET /docs`. A browser that opens a page cannot send a key: where one is required, an unauthenticated request for HTML
   * gets the page without the catalogue.
   */
  async answerPage(exchange: Exchange, services: Services): Promise<void> {
    const { headers } = exchange;
    const keyless = !presentsKey((name) => headers.values(name));
    if (this.access === 'key' && keyless && namesType(headers.list('accept'), 'text/html')) {
      await this.#answerPage(exchange, this.#shell);
      return;
    }
    const key = this.#authenticate(exchange, services);
    checkAccept(exchange, 'text/html');
    const documents = this.#documentsFor(key, services);
    documents.page ??= finish(docsPage(described(key, services), this.access, this.explorer));
    await this.#answerPage(exchange, documents.page);
  }

  async #openApi(documents: Documents, key: Key | null, services: Services): Promise<EncodedResponse> {
    const known = documents.openApi;
    if (known !== undefined && performance.now() < (await known).expires) return (await known).response;
    // Another request may have begun in the meantime.
    if (documents.openApi === known) delete documents.openApi;
    documents.openApi ??= this.#generate(key, services);
    return (await documents.openApi).response;
  }

  async #generate(key: Key | null, services: Services): Promise<OpenApi> {
    const visible = visibleTo(key, services.catalogue.current());
    const { engine } = services;
    // Everybody may be the holder of a key with pins.
    const seen = visible.filter((endpoint) =>
      key === null ? readsDeclaredTables(endpoint, engine) : maySeeSchema(key, endpoint, engine),
    );
    const { columnsOf, complete } = await storedColumns(seen, services);
    const reader = readers(key, services);
    const document = openApiDocument(describeEndpoints(visible, reader, columnsOf), reader, this.access);
    const age = complete ? MAX_AGE.complete : MAX_AGE.incomplete;
    return { response: finish(JSON.stringify(document)), expires: performance.now() + age };
  }

  /** @throws ServiceError unauthenticated */
  #authenticate(exchange: Exchange, services: Services): Key | null {
    if (this.access === 'open') return null;
    return authenticate(exchange, services);
  }

  #documentsFor(key: Key | null, { catalogue }: Services): Documents {
    const endpoints = catalogue.current();
    const byRights = this.#documents.get(endpoints) ?? new LRUCache<string, Documents>({ max: MOST_DOCUMENTS });
    this.#documents.set(endpoints, byRights);
    const rights = key === null ? '' : rightsOf(key);
    const documents = byRights.get(rights) ?? {};
    byRights.set(rights, documents);
    return documents;
  }

  #answerPage(exchange: Exchange, page: EncodedResponse): Promise<void> {
    return this.#answer(exchange, page, 'text/html; charset=utf-8', ['Content-Security-Policy', PAGE_POLICY]);
  }

  /** @param policy a flat list of further headers */
  async #answer(
    exchange: Exchange,
    response: EncodedResponse,
    contentType: string,
    policy: readonly string[] = [],
  ): Promise<void> {
    const headers = ['Cache-Control', 'private, no-cache', 'Vary', VARY[this.access], ...policy];
    exchange.send(await conditionalResponse({ response, contentType, headers }, exchange.request, exchange.headers));
  }
}

function readers(key: Key | null, { engine }: Services): Readers {
  const { kind, dryRun } = engine;
  return { key, engine: { kind, dryRun: dryRun !== null, dataStatus: () => engine.dataStatus?.() ?? null } };
}

function described(key: Key | null, services: Services): DescribedEndpoint[] {
  return describeEndpoints(services.catalogue.current(), readers(key, services));
}

/** The route sets the content type. */
function finish(text: string): EncodedResponse {
  return new EncodedResponse(Buffer.from(text), 'application/json', false);
}

function checkAccept({ headers }: Exchange, type: string): void {
  if (takesType(headers.list('accept'), type)) return;
  throw new ServiceError('notAcceptable', `This is answered as ${type} only.`, { allowed: [type] });
}
