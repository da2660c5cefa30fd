/** A request of the API, read. */
export interface ApiRequest {
  readonly method: string;
  /** Parts of the path that the route names: `project`, `job`, `dataset`, `table`. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The JSON body; `{}` without one, and for an upload. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The bytes of an upload; empty for any other request. */
  readonly raw: Buffer;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** `http://127.0.0.1:9050`, as the caller names it. */
  readonly origin: string;
}

/** An answer: a JSON value, or JSON text that is ready. */
export interface ApiReply {
  readonly status: number;
  readonly json: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Handler = (request: ApiRequest) => Promise<ApiReply> | ApiReply;

/** What a request asks for; faults and the list of requests name it so. */
export type Operation =
  | 'query'
  | 'results'
  | 'insertJob'
  | 'getJob'
  | 'listJobs'
  | 'cancel'
  | 'deleteJob'
  | 'datasets'
  | 'tables'
  | 'insertAll'
  | 'upload'
  | 'listRows'
  | 'other';

interface Route {
  readonly operation: Operation;
  readonly method: string;
  readonly pattern: RegExp;
  readonly handler: Handler;
}

/** JSON text that is sent as it stands. */
export class JsonText {
  constructor(readonly text: string) {}
}

export function ok(json: unknown): ApiReply {
  return { status: 200, json };
}

/** The routes of the API, each under its bare path and under `/bigquery/v2`. */
export class Routes {
  private readonly routes: Route[] = [];

  /** `template` is a path such as `/projects/:project/queries/:job`. */
  add(operation: Operation, method: string, template: string, handler: Handler): void {
    const pattern = new RegExp(`^(?:/bigquery/v2)?${template.replace(/:(\w+)/g, '(?<$1>[^/]+)')}/?$`);
    this.routes.push({ operation, method, pattern, handler });
  }

  /** The route of a path; null: no route. Invalid percent-encoding in a path stays as it is. */
  find(method: string, path: string): { operation: Operation; handler: Handler; path: Record<string, string> } | null {
    for (const route of this.routes) {
      const m = route.method === method ? route.pattern.exec(path) : null;
      if (m === null) continue;
      const parts = Object.entries(m.groups ?? {}).map(([name, value]) => [name, decode(value)] as const);
      return { operation: route.operation, handler: route.handler, path: Object.fromEntries(parts) };
    }
    return null;
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
