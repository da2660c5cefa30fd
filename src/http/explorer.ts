import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { ServiceError } from '../errors';
import { presentsKey } from '../keys/key';
import type { Log } from '../log';
import { EncodedResponse } from '../rendering/encoded-response';
import { namesType } from '../rendering/representation';
import { authenticate } from '../run/authorise';
import type { Exchange } from './exchange';
import { conditionalResponse } from './response/conditional';
import type { Lifecycle } from './server/lifecycle';

/** Where `npm run build` writes the page: the same folder from the sources and from the build. */
const BUILT = path.join(__dirname, '../../dist/explorer');

/** One file of the page, in every coding that it is sent in. */
export interface ExplorerFile {
  readonly response: EncodedResponse;
  readonly contentType: string;
}

/** The page and the files that it loads. */
export interface ExplorerFiles {
  readonly page: ExplorerFile;
  /** By their names, which hold a hash of their bytes. */
  readonly assets: ReadonlyMap<string, ExplorerFile>;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** Reads the built page. null: it was not built, as where only the server was compiled. */
export function readExplorerFiles(folder = BUILT): ExplorerFiles | null {
  if (!existsSync(path.join(folder, 'index.html'))) return null;
  const names = readdirSync(folder).filter((name) => Object.hasOwn(CONTENT_TYPES, path.extname(name)));
  const files = new Map(names.map((name) => [name, readFile(folder, name)]));
  const page = files.get('index.html');
  files.delete('index.html');
  return page === undefined ? null : { page, assets: files };
}

function readFile(folder: string, name: string): ExplorerFile {
  const read = (suffix: string): Buffer => readFileSync(path.join(folder, name + suffix));
  const forms = { bytes: read(''), gzip: read('.gz'), br: read('.br') };
  return {
    response: EncodedResponse.of(forms, 'application/json', false),
    contentType: CONTENT_TYPES[path.extname(name)] ?? 'application/octet-stream',
  };
}

/**
 * What the page may do: run and look as its own files say, and ask its own origin. No markup is made from text, and no
 * script runs but the built ones: rows hold what strangers wrote.
 */
export const explorerPolicy = (embed: readonly string[] = []): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "worker-src 'self'",
    "connect-src 'self'",
    'img-src data:', // the empty icon that keeps browsers from asking for one
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${embed.length === 0 ? "'none'" : embed.join(' ')}`,
    "require-trusted-types-for 'script'",
    'trusted-types analyser', // which lets one worker be started, by the name of its file
  ].join(';');

/** A file's name changes with its bytes. */
const IMMUTABLE = ['Cache-Control', 'public, max-age=31536000, immutable', 'Vary', 'Accept-Encoding'];

/** The page names the files of this build: browsers ask whether it is still the one they have. */
const PAGE = ['Cache-Control', 'private, no-cache', 'Vary', 'Accept, Accept-Encoding, X-API-KEY, Authorization'];

/** The page for people, as it was built: it shows what the public routes answer to the key that it asks for. */
export class Explorer {
  readonly #pageHeaders: readonly string[];

  /** @param embed origins whose pages may show it in a frame */
  constructor(
    private readonly access: 'open' | 'key',
    private readonly files: ExplorerFiles,
    embed: readonly string[] = [],
  ) {
    this.#pageHeaders = [...PAGE, 'Content-Security-Policy', explorerPolicy(embed)];
  }

  /**
   * `GET /explore`. A browser that opens a page cannot send a key: with `key` too it gets the page, which holds nothing of
   * the catalogue.
   *
   * @throws ServiceError unauthenticated
   */
  answerPage(exchange: Exchange, lifecycle: Lifecycle): Promise<void> {
    const { headers } = exchange;
    const opened = !presentsKey((name) => headers.values(name)) && namesType(headers.list('accept'), 'text/html');
    if (this.access === 'key' && !opened) authenticate(exchange, lifecycle.services());
    return answer(exchange, this.files.page, this.#pageHeaders);
  }

  /** `GET /explore/:file`: what the page loads. @throws ServiceError notFound */
  answerFile(exchange: Exchange, name: string): Promise<void> {
    const file = this.files.assets.get(name);
    if (file === undefined) throw new ServiceError('notFound', 'There is nothing under this path.');
    return answer(exchange, file, IMMUTABLE);
  }
}

/** null, with a warning: the page was not built. */
export function openExplorer(access: 'open' | 'key', embed: readonly string[], log: Log): Explorer | null {
  const files = readExplorerFiles();
  if (files !== null) return new Explorer(access, files, embed);
  log.warn({}, 'the explorer was not built (npm run build): there is no /explore');
  return null;
}

async function answer(
  exchange: Exchange,
  { response, contentType }: ExplorerFile,
  headers: readonly string[],
): Promise<void> {
  exchange.send(await conditionalResponse({ response, contentType, headers }, exchange.request, exchange.headers));
}
