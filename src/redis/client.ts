/** Connections of ioredis, set up so that nothing waits and nothing is sent twice. When one fails it is thrown away. */
import { Cluster, Redis, type RedisOptions } from 'ioredis';

import type { Credentials, RedisAddress } from './address';

export type RedisClient = Redis | Cluster;

/** ioredis types its clients by the one option that is left out. */
type Options = Omit<RedisOptions, 'replyMapping'>;

/** Milliseconds for one TCP or TLS connection. */
const CONNECT = 1000;

/** Milliseconds for one answer of a Sentinel, or of a node that is asked for the Cluster's slots. */
const ASK_AROUND = 500;

/** Milliseconds that a discarded connection may take to close cleanly. */
const LAST_WORDS = 100;

/** Milliseconds before a command goes to another node of the Cluster, when the first had none for it. */
const TRY_AGAIN = 20;

/** How often that may be. */
const REDIRECTIONS = 5;

/** A client that is not connected yet; `connect()` connects it once, and once it has ended it stays so. */
export function createClient(address: RedisAddress): RedisClient {
  const client = address.kind === 'cluster' ? createCluster(address) : createSingle(address);
  client.on('error', () => undefined);
  return client;
}

/** Of every connection. */
function optionsOf({ credentials, tls }: RedisAddress): Options {
  return {
    ...loginOf(credentials),
    ...(tls ? { tls: {} } : {}),
    lazyConnect: true,
    connectTimeout: CONNECT,
    disconnectTimeout: LAST_WORDS,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    // Our own PING tells as much: a server that still loads its data answers it with an error.
    enableReadyCheck: false,
    protocol: 2,
    connectionName: 'logquay',
    disableClientInfo: true,
  };
}

function createSingle(address: Exclude<RedisAddress, { kind: 'cluster' }>): Redis {
  const options: Options = { ...optionsOf(address), db: address.db, retryStrategy: null, enableOfflineQueue: false };
  if (address.kind === 'single') return new Redis({ ...options, ...address.host });
  return new Redis({
    ...options,
    name: address.master,
    sentinels: address.hosts.map((host) => ({ ...host })),
    ...sentinelLoginOf(address.sentinelCredentials),
    ...(address.tls ? { enableTLSForSentinelMode: true, sentinelTLS: {} } : {}),
    sentinelRetryStrategy: () => null,
    sentinelCommandTimeout: ASK_AROUND,
    updateSentinels: false,
    // It compares the server's role with what the Sentinel said of it.
    enableReadyCheck: true,
  });
}

/** Nodes are connected to when they are first needed, and what is sent meanwhile waits: the caller's deadline bounds that. */
function createCluster(address: RedisAddress & { kind: 'cluster' }): Cluster {
  return new Cluster(
    address.hosts.map((host) => ({ ...host })),
    {
      redisOptions: optionsOf(address),
      lazyConnect: true,
      clusterRetryStrategy: () => null,
      slotsRefreshTimeout: ASK_AROUND,
      // No slotsRefreshInterval: its timer outlives a discarded client. Nodes redirect to slots that have moved.
      maxRedirections: REDIRECTIONS,
      retryDelayOnFailover: TRY_AGAIN,
      retryDelayOnTryAgain: TRY_AGAIN,
      retryDelayOnClusterDown: 0,
      // Certificates are for names: those that nodes give are not looked up first.
      dnsLookup: (name, found) => found(null, name),
    },
  );
}

function loginOf(credentials: Credentials | null): Options {
  if (credentials === null) return {};
  const { username, password } = credentials;
  return username === null ? { password } : { username, password };
}

function sentinelLoginOf(credentials: Credentials | null): Options {
  if (credentials === null) return {};
  const { username, password } = credentials;
  return { sentinelPassword: password, ...(username === null ? {} : { sentinelUsername: username }) };
}

/** Every server that commands may go to. */
export function servers(client: RedisClient): readonly Redis[] {
  return client instanceof Cluster ? client.nodes('master') : [client];
}

/** Answers of Redis as what they must be: what answers otherwise is not Redis, or talks nonsense. */
export class Unexpected extends Error {
  override readonly name = 'Unexpected';

  constructor() {
    super('Redis answered with something else than it should.');
  }
}

/** @throws Unexpected */
export function readNumber(answer: unknown): number {
  if (typeof answer !== 'number') throw new Unexpected();
  return answer;
}

/** @throws Unexpected */
export function readFlag(answer: unknown): boolean {
  if (answer !== 0 && answer !== 1) throw new Unexpected();
  return answer === 1;
}

/** @throws Unexpected */
export function readPair(answer: unknown): readonly [number, number] {
  if (!Array.isArray(answer) || answer.length !== 2) throw new Unexpected();
  return [readNumber(answer[0]), readNumber(answer[1])];
}
