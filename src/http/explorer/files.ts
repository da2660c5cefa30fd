import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { EncodedResponse } from '../../rendering/encoded-response';

/** Where `npm run build` writes the page: the same folder from the sources and from the build. */
const BUILT = path.join(__dirname, '../../../dist/explorer');

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
