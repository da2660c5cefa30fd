import { ServiceError } from '../../errors';
import { presentsKey } from '../../keys/key';
import type { Log } from '../../log';
import { authenticate } from '../../run/authorise';
import type { Exchange } from '../exchange';
import { conditionalResponse } from '../response/conditional';
import { namesType } from '../../rendering/representation';
import type { Lifecycle } from '../server/lifecycle';
import { type ExplorerFile, type ExplorerFiles, readExplorerFiles } from './files';
import { EXPLORER_POLICY } from './policy';

/** A file's name changes with its bytes. */
const IMMUTABLE = ['Cache-Control', 'public, max-age=31536000, immutable', 'Vary', 'Accept-Encoding'];

/** The page names the files of this build: browsers ask whether it is still the one they have. */
const PAGE = [
  ...['Cache-Control', 'private, no-cache', 'Vary', 'Accept, Accept-Encoding, X-API-KEY, Authorization'],
  ...['Content-Security-Policy', EXPLORER_POLICY],
];

/** The page for people, as it was built: it shows what the public routes answer to the key that it asks for. */
export class Explorer {
  constructor(
    private readonly access: 'open' | 'key',
    private readonly files: ExplorerFiles,
  ) {}

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
    return answer(exchange, this.files.page, PAGE);
  }

  /** `GET /explore/:file`: what the page loads. @throws ServiceError notFound */
  answerFile(exchange: Exchange, name: string): Promise<void> {
    const file = this.files.assets.get(name);
    if (file === undefined) throw new ServiceError('notFound', 'There is nothing under this path.');
    return answer(exchange, file, IMMUTABLE);
  }
}

/** null, with a warning: the page was not built. */
export function openExplorer(access: 'open' | 'key', log: Log): Explorer | null {
  const files = readExplorerFiles();
  if (files !== null) return new Explorer(access, files);
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
