import type { IncomingMessage } from 'node:http';

const PREFIX = '/api/endpoints/query/';
const NAME = /^[A-Za-z0-9._-]+$/;
const METHODS = new Set(['GET', 'HEAD', 'POST']);

/**
 * The id or name in a plain request to run a stored endpoint, which nearly every request is; null for any other: those
 * Express routes (docs/decisions/fast-path.md).
 */
export function directRun({ method = '', url = '' }: IncomingMessage): string | null {
  if (!url.startsWith(PREFIX) || !METHODS.has(method)) return null;
  const query = url.indexOf('?', PREFIX.length);
  const idOrName = url.slice(PREFIX.length, query === -1 ? undefined : query);
  return NAME.test(idOrName) ? idOrName : null;
}
