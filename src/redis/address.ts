/** What `REDIS_URL` may be (docs/cache.md): one server, Sentinels that know a master, or nodes of a Cluster. */
import { isIPv6 } from 'node:net';

import { ConfigError } from '../config';

export interface Host {
  readonly host: string;
  readonly port: number;
}

export interface Credentials {
  /** null: Redis's default user. */
  readonly username: string | null;
  readonly password: string;
}

interface Common {
  readonly tls: boolean;
  /** Of Redis itself, or of every node. */
  readonly credentials: Credentials | null;
}

export type RedisAddress = Common &
  (
    | { readonly kind: 'single'; readonly host: Host; readonly db: number }
    | {
        readonly kind: 'sentinel';
        readonly hosts: readonly Host[];
        /** Name of the master that the Sentinels watch. */
        readonly master: string;
        readonly db: number;
        /** Of the Sentinels themselves. */
        readonly sentinelCredentials: Credentials | null;
      }
    | { readonly kind: 'cluster'; readonly hosts: readonly Host[] }
  );

const URL_FORM = /^redis(s?)(?:\+(sentinel|cluster))?:\/\/(?:([^/?#]*)@)?([^/?#@]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/;
const REDIS_PORT = 6379;
const SENTINEL_PORT = 26379;

/** @throws ConfigError that says what is wrong, and nothing of what was given: it may be a secret */
export function parseRedisUrl(url: string): RedisAddress {
  const [, tls, kind, userinfo, authority, path, query] =
    URL_FORM.exec(url) ??
    refuse('does not read as a URL; characters such as / ? # @ in a password are written %2F %3F %23 %40');
  const common: Common = { tls: tls === 's', credentials: credentialsOf(userinfo) };
  const segments = (path ?? '').split('/').filter((segment) => segment !== '');
  const options = new URLSearchParams(query ?? '');
  if (kind === 'sentinel') {
    const [master, db, ...rest] = segments;
    if (master === undefined) refuse('needs the master after the hosts: redis+sentinel://host:port,host:port/MASTER');
    if (rest.length > 0) refuse('has too much behind the master: only the number of a database may follow it');
    const sentinelCredentials = sentinelCredentialsOf(options);
    const hosts = hostsOf(authority, SENTINEL_PORT);
    return { ...common, kind, hosts, master: decoded(master), db: databaseOf(db), sentinelCredentials };
  }
  if (options.size > 0) refuse('has options behind a ?; only redis+sentinel:// knows some');
  if (kind === 'cluster') {
    if (segments.length > 0) refuse('has a path; a Cluster has one database only');
    return { ...common, kind, hosts: hostsOf(authority, REDIS_PORT) };
  }
  if (segments.length > 1) refuse('has too much behind the host: only the number of a database may follow it');
  const [host, ...more] = hostsOf(authority, REDIS_PORT);
  if (host === undefined || more.length > 0) {
    refuse('names several hosts; that takes redis+sentinel:// or redis+cluster://');
  }
  return { ...common, kind: 'single', host, db: databaseOf(segments[0]) };
}

function refuse(what: string): never {
  throw new ConfigError(`REDIS_URL: ${what}.`);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return refuse('has a % that no two hexadecimal digits follow');
  }
}

function credentialsOf(userinfo: string | undefined): Credentials | null {
  if (userinfo === undefined || userinfo === '' || userinfo === ':') return null;
  const colon = userinfo.indexOf(':');
  if (colon === -1) refuse('has a user without a password; a password alone is written redis://:password@host');
  return credentials(decoded(userinfo.slice(0, colon)), decoded(userinfo.slice(colon + 1)));
}

function credentials(username: string, password: string): Credentials {
  if (password === '') refuse('has a user without a password');
  return { username: username === '' ? null : username, password };
}

function sentinelCredentialsOf(options: URLSearchParams): Credentials | null {
  const known = ['sentinel_user', 'sentinel_password'];
  const names = [...options.keys()];
  if (names.some((name) => !known.includes(name)) || new Set(names).size < names.length) {
    refuse('may have sentinel_user and sentinel_password behind the ?, each once');
  }
  return names.length === 0
    ? null
    : credentials(options.get('sentinel_user') ?? '', options.get('sentinel_password') ?? '');
}

function databaseOf(text: string | undefined): number {
  if (text === undefined) return 0;
  if (!/^\d{1,5}$/.test(text)) refuse('has something else than the number of a database at its end');
  return Number(text);
}

function hostsOf(authority: string | undefined, defaultPort: number): readonly Host[] {
  return (authority ?? '').split(',').map((text) => {
    const [, bracketed, name, digits] =
      /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::(\d{1,5}))?$/i.exec(text) ??
      refuse('has hosts that do not read as host:port, with commas between');
    const port = digits === undefined ? defaultPort : Number(digits);
    if (port < 1 || port > 65535) refuse('has a port outside 1 to 65535');
    if (bracketed !== undefined && !isIPv6(bracketed))
      refuse('has brackets around something else than an IPv6 address');
    return { host: bracketed ?? name ?? '', port };
  });
}
