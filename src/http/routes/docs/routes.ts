import type { Endpoint } from '../../../endpoints';
import { ServiceError } from '../../../errors';
import type { Key } from '../../../keys';
import { presentsKey } from '../../../keys/credentials';
import {
  type DescribedEndpoint,
  describeEndpoints,
  type DocsAccess,
  openApiDocument,
  type Readers,
} from '../../../openapi';
import { EncodedResponse } from '../../../rendering/encoded-response';
import { authenticate } from '../../../run/authorise';
import type { Services } from '../../../run/services';
import type { Exchange } from '../../exchange';
import { conditionalResponse } from '../../response/conditional';
import { accepts, namesType } from './accept';
import { docsPage } from './page';
import { PAGE_POLICY } from './policy';

/** What is shown differs by key, and changes with the stored queries: kept, but never without asking. */
const VARY = { open: 'Accept, Accept-Encoding', key: 'Accept, Accept-Encoding, X-API-KEY, Authorization' };

/** The forms of the documentation for one key and one state of the catalogue, each made when it is first asked for. */
interface Made {
  openApi?: EncodedResponse;
  page?: EncodedResponse;
}

const EVERYBODY = {};

/**
 * `/openapi.json` and `/docs`, made from the catalogue as it is. With `open` they tell everybody everything; with `key`
 * whoever has a key is told what it may run.
 */
export class DocsRoutes {
  /** By the catalogue's own list, which is another after every change, and by key. */
  readonly #made = new WeakMap<readonly Endpoint[], WeakMap<object, Made>>();
  readonly #shell: EncodedResponse;

  constructor(private readonly access: DocsAccess) {
    this.#shell = finish(docsPage(null, access));
  }

  /** `GET /openapi.json` */
  async answerOpenApi(exchange: Exchange, services: Services): Promise<void> {
    const key = this.#authenticate(exchange, services);
    checkAccept(exchange, 'application/json');
    const made = this.#madeFor(key, services);
    made.openApi ??= finish(
      JSON.stringify(openApiDocument(described(key, services), readers(key, services), this.access)),
    );
    await this.#answer(exchange, made.openApi, 'application/json; charset=utf-8');
  }

  /**
   * `GET /docs`. A browser that opens a page cannot send a key: where one is needed, who asks for HTML by name and sends
   * none gets the page without a word of the catalogue, which asks for the key and comes back with it.
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
    const made = this.#madeFor(key, services);
    made.page ??= finish(docsPage(described(key, services), this.access));
    await this.#answerPage(exchange, made.page);
  }

  /** @throws ServiceError unauthenticated */
  #authenticate(exchange: Exchange, services: Services): Key | null {
    if (this.access === 'open') return null;
    return authenticate(exchange, services);
  }

  #madeFor(key: Key | null, { catalogue }: Services): Made {
    const endpoints = catalogue.current();
    const byKey = this.#made.get(endpoints) ?? new WeakMap<object, Made>();
    this.#made.set(endpoints, byKey);
    const made = byKey.get(key ?? EVERYBODY) ?? {};
    byKey.set(key ?? EVERYBODY, made);
    return made;
  }

  #answerPage(exchange: Exchange, page: EncodedResponse): Promise<void> {
    return this.#answer(exchange, page, 'text/html; charset=utf-8', ['Content-Security-Policy', PAGE_POLICY]);
  }

  /** @param policy names and values in turn: headers of this path alone */
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
  return { key, engine: { kind: engine.kind, dryRun: engine.dryRun !== null } };
}

function described(key: Key | null, services: Services): DescribedEndpoint[] {
  return describeEndpoints(services.catalogue.current(), readers(key, services));
}

/** Bytes with their tag and their compressed forms; what type they have, the route says. */
function finish(text: string): EncodedResponse {
  return new EncodedResponse(Buffer.from(text), 'application/json', false);
}

function checkAccept({ headers }: Exchange, type: string): void {
  if (accepts(headers.list('accept'), type)) return;
  throw new ServiceError('notAcceptable', `This is answered as ${type} only.`, { allowed: [type] });
}
