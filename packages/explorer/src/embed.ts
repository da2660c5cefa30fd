/** The page within a page of others (docs/embed.md): its token and its state come and go by messages alone. */

/** Whether it is shown in a frame: nothing is stored then, and the address stays as it is. */
export const framed = window.parent !== window;

/** What a browser's storage does, for as long as the page is there. */
class Memory {
  readonly #items = new Map<string, string>();

  getItem(name: string): string | null {
    return this.#items.get(name) ?? null;
  }

  setItem(name: string, value: string): void {
    this.#items.set(name, value);
  }

  removeItem(name: string): void {
    this.#items.delete(name);
  }
}

/** What is remembered by the browser, and by the tab. A frame's storage throws in many a browser. */
export const ofBrowser: Pick<Storage, keyof Memory> = framed ? new Memory() : localStorage;
export const ofTab: Pick<Storage, keyof Memory> = framed ? new Memory() : sessionStorage;

/** Milliseconds to wait for a new token. */
const PATIENCE = 10_000;

let token = '';
/** Whose page it is in; empty: it has sent no token yet. */
let parent = '';
let waiting: ((token: string) => void)[] = [];

export interface Embedding {
  /** A token has come, the first or a new one. */
  readonly onToken: (token: string, isFirst: boolean) => void;
  /** The state to show: the part of an address behind `#`. */
  readonly onState: (state: string) => void;
}

/** Takes messages of the page around, and says that it is ready. Rejects where the service does not answer. */
export async function embed({ onToken, onState }: Embedding): Promise<void> {
  const origins = await allowedOrigins();
  addEventListener('message', ({ data, origin, source }: MessageEvent<unknown>) => {
    if (source !== window.parent || !origins.includes(origin)) return;
    const { type, token: given, state } = (data ?? {}) as Readonly<Record<string, unknown>>;
    if (type === 'logquay:token' && typeof given === 'string') {
      const isFirst = token === '';
      [token, parent] = [given, origin];
      for (const resolve of waiting.splice(0)) resolve(given);
      onToken(given, isFirst);
    }
    if (type === 'logquay:state' && typeof state === 'string') onState(state);
  });
  // Nothing but this, to whoever may show the page: which of them does comes with the token.
  window.parent.postMessage({ type: 'logquay:ready' }, '*');
}

/** The page's own policy names the origins. */
async function allowedOrigins(): Promise<readonly string[]> {
  const { headers } = await fetch(location.pathname, { headers: { Accept: 'text/html' }, cache: 'no-store' });
  const [, written = ''] = /frame-ancestors ([^;]*)/.exec(headers.get('content-security-policy') ?? '') ?? [];
  return written.split(' ');
}

/** Tells the page around what is looked at. */
export function tellState(state: string): void {
  tell({ type: 'logquay:state', state });
}

function tell(message: object): void {
  if (parent !== '') window.parent.postMessage(message, parent);
}

/** Another token than one that is not taken any more; null: none comes. */
export function renewed(before: string): Promise<string | null> {
  if (token !== before) return Promise.resolve(token);
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      waiting = waiting.filter((one) => one !== done);
      resolve(null);
    }, PATIENCE);
    const done = (given: string): void => {
      clearTimeout(timer);
      resolve(given);
    };
    if (waiting.push(done) === 1) tell({ type: 'logquay:expired' });
  });
}
