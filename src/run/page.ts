/** A page of a stored query's result (docs/querying.md). */
import { groupOf } from '@logquay/duckdb-engine/concurrency';
import { createHash } from 'node:crypto';

import { withoutMovingStarts } from '../endpoints/parameters';
import { ServiceError } from '../errors';
import type { BoundParameter } from '@logquay/duckdb-engine/contract';
import { EncodedResponse } from '../rendering/encoded-response';
import { readMembers } from '../json';
import { encodeResult } from './encode-result';
import { engineQuery, limitsOf } from './execute';
import { pageKeysOf, type PageKey, type PagePosition, pageStatement } from './page-query';
import { costHeaders, readingHeaders, UNCACHED } from './response-headers';
import type { Services } from './services';
import { composeStatement, forCaller } from './statement';
import type { RequestPlan, RunRequest, RunResponse } from './types';

/** Rows with the same keys that pages go on between: each has a digest in the token. */
const MOST_TIED = 100;

/** @throws ServiceError as a run; invalidParameter for a result without an order that pages can go on from */
export async function runPage(
  requested: RequestPlan & { readonly page: NonNullable<RequestPlan['page']> },
  request: RunRequest,
  services: Services,
): Promise<RunResponse> {
  const { endpoint, page, payer } = requested;
  const { pageTokens, engine, admission } = services;
  const purpose = purposeOf(requested);
  const from = page.token === null ? null : pageTokens.open(page.token, purpose);
  const plan = fromFirstPage(requested, from);
  const limits = { ...limitsOf(plan, request, services).limits, keyName: payer };
  const { columns } = await request.timed('gate', () => services.analyses.of(endpoint, limits));
  const keys = columns === null ? null : pageKeysOf(endpoint.query, columns);
  if (keys === null) throw withoutOrder();

  const stored = await request.timed('gate', () => composeStatement(plan, services, limits));
  const behind = from === null ? null : pageStatement(stored.sql, keys, from);
  const statement =
    behind === null ? stored : { ...stored, sql: behind.sql, parameters: [...stored.parameters, ...behind.parameters] };
  const given = new Map<string, number>();
  for (const digest of from?.given ?? []) given.set(digest, (given.get(digest) ?? 0) + 1);
  const maxRows = page.size + (from?.given.length ?? 0);
  const query = { ...engineQuery(plan, statement, services), maxRows };
  const result = await request.timed('queue', () =>
    admission
      .use(payer, limits, () => request.timed('engine', () => engine.run(query, limits)))
      .catch(forCaller(stored)),
  );
  const fresh = result.rows.filter((row) => !take(given, digestOf(row)));
  const rows = fresh.slice(0, page.size);
  const hasMore = result.truncated || fresh.length > rows.length;
  const next = hasMore && rows.length > 0 ? pageTokens.seal(positionBehind(rows, keys, from, plan), purpose) : null;
  const encoded = await request.timed('render', () =>
    encodeResult({ columns: result.columns, rows, truncated: false }, plan, services, limits),
  );
  request.record({ rows: rows.length });
  return {
    response: withToken(encoded, next),
    headers: [...UNCACHED, ...(plan.fenced ? [] : costHeaders(result)), ...readingHeaders(plan)],
  };
}

/** Everything that a position depends on: a token is good for the same request of the same key, over the same definition. */
function purposeOf({ endpoint, parameters, moving, payer, redacted, isoTimestamps }: RequestPlan): string {
  const values = withoutMovingStarts(parameters, moving).map(({ name, value }) => [name, value]);
  return JSON.stringify(['page', groupOf(payer), endpoint.id, endpoint.revision, values, redacted, isoTimestamps]);
}

/** The plan with the starts of the first page: those that move on with the clock stand still for its pages. */
function fromFirstPage<Plan extends RequestPlan>(plan: Plan, from: PagePosition | null): Plan {
  const starts = new Map(from?.starts);
  if (starts.size === 0) return plan;
  const parameters = plan.parameters.map((parameter): BoundParameter => {
    const value = starts.get(parameter.name);
    return value === undefined ? parameter : { name: parameter.name, type: 'STRING', value };
  });
  return { ...plan, parameters };
}

/** The last row, and which rows with its keys have been given. */
function positionBehind(
  rows: readonly string[],
  keys: readonly PageKey[],
  from: PagePosition | null,
  { parameters, moving }: Pick<RequestPlan, 'parameters' | 'moving'>,
): PagePosition {
  const keysOf = (row: string): string[] => {
    const members = readMembers(row);
    return keys.map(({ column }) => members.find(({ name }) => name === column)?.json ?? 'null');
  };
  const values = keysOf(rows.at(-1) ?? '{}');
  const isTied = (row: string): boolean => keysOf(row).every((value, i) => value === values[i]);
  const first = rows.findIndex(isTied);
  // All of the page has the keys that the page before ended with.
  const before = first === 0 && from !== null && from.values.every((value, i) => value === values[i]) ? from.given : [];
  const tied = [...before, ...rows.slice(first).map(digestOf)];
  if (tied.length > MOST_TIED) throw withoutOrder();
  if (moving === null) return { values, given: tied };
  const isMoving = ({ name }: BoundParameter): boolean => moving.names.includes(name);
  return { values, given: tied, starts: parameters.filter(isMoving).map(({ name, value }) => [name, String(value)]) };
}

function digestOf(row: string): string {
  return createHash('sha256').update(row).digest('base64url').slice(0, 16);
}

/** Whether a row is one of those; it is taken off them. */
function take(given: Map<string, number>, digest: string): boolean {
  const count = given.get(digest) ?? 0;
  if (count > 0) given.set(digest, count - 1);
  return count > 0;
}

function withToken({ bytes, representation, truncated }: EncodedResponse, token: string | null): EncodedResponse {
  if (token === null) return new EncodedResponse(bytes, representation, truncated);
  const end = Buffer.from(`,"next_page_token":${JSON.stringify(token)}}`);
  return new EncodedResponse(Buffer.concat([bytes.subarray(0, -1), end]), representation, truncated);
}

function withoutOrder(): ServiceError {
  const message = 'The stored query has no order that pages can go on from.';
  return new ServiceError('invalidParameter', message, {
    parameter: 'page_size',
    hint: 'Its ORDER BY has to name columns of the result that hardly two rows have in common.',
  });
}
