/** What a result's schema makes of it: the columns, and the writer of its rows, compiled once per schema. */
import { LRUCache } from 'lru-cache';
import { QueryError, columnsOf, parseRestSchema, RestSchemaError, type NamedType } from '@logquay/googlesql/types';
import { malformedAnswer } from './api-failure';
import { rowWriter, type ValueForm, MalformedRow } from './row-writer';

export interface ResultShape {
  readonly columns: readonly NamedType[];
  readonly write: (row: unknown) => string;
}

const PLAIN: ValueForm = { hideBytes: false, isoTimestamps: false };

const SHAPES = new LRUCache<string, ResultShape>({ max: 500 });

/**
 * @param fields `schema.fields` as it came
 * @throws ApiFailure for what is no schema, or an empty one: every SELECT has a column; QueryError `invalidQuery` for two
 *   columns of one name
 */
export function resultShape(fields: unknown, form = PLAIN): ResultShape {
  const key = `${form.hideBytes} ${form.isoTimestamps} ${JSON.stringify(fields)}`;
  const known = SHAPES.get(key);
  if (known !== undefined) return known;
  refuseDuplicates(fields);
  try {
    const parsed = parseRestSchema(fields, 'result');
    const shape = { columns: columnsOf(parsed), write: rowWriter(parsed, form) };
    SHAPES.set(key, shape);
    return shape;
  } catch (error) {
    if (error instanceof RestSchemaError) throw malformedAnswer(error.message);
    throw error;
  }
}

/** BigQuery refuses them itself; services that stand in for it may not (docs/querying.md). */
function refuseDuplicates(fields: unknown): void {
  const seen = new Set<string>();
  for (const field of Array.isArray(fields) ? (fields as readonly ({ name?: unknown } | null)[]) : []) {
    const name = String(field?.name).toLowerCase();
    if (seen.has(name)) {
      throw new QueryError('invalidQuery', 'Two columns of the result have one name. Give one an alias.', null);
    }
    seen.add(name);
  }
}

/** The parts of BigQuery's REST API (v2) that the engine uses: what is sent and what comes back. */

export interface ApiParameter {
  readonly name: string;
  readonly parameterType: { readonly type: string; readonly arrayType?: { readonly type: string } };
  readonly parameterValue: { readonly value: string } | { readonly arrayValues: readonly { readonly value: string }[] };
}

/** What a query is made of, whichever method it is sent by. */
export interface QueryText {
  readonly query: string;
  readonly useLegacySql: false;
  readonly parameterMode: 'NAMED';
  readonly queryParameters: readonly ApiParameter[];
  readonly defaultDataset?: { readonly projectId: string; readonly datasetId: string };
}

/** The body of jobs.query. 64-bit numbers travel as text. */
export interface QueryRequest extends QueryText {
  readonly location?: string;
  readonly maxResults: number;
  readonly timeoutMs: number;
  readonly jobTimeoutMs: string;
  readonly maximumBytesBilled: string;
  readonly useQueryCache: true;
  readonly labels: Readonly<Record<string, string>>;
  /** At most 36 characters; requests with one id make one job. */
  readonly requestId: string;
  readonly jobCreationMode: 'JOB_CREATION_OPTIONAL';
  readonly formatOptions: { readonly useInt64Timestamp: true };
}

export interface JobReference {
  readonly projectId: string;
  readonly jobId: string;
  readonly location?: string;
}

export interface ErrorProto {
  readonly reason?: string;
  readonly message?: string;
  readonly location?: string;
  readonly domain?: string;
  readonly debugInfo?: string;
}

/** What jobs.query and getQueryResults answer. Nothing of it is trusted to be there. */
export interface QueryResponse {
  readonly jobComplete?: boolean;
  readonly jobReference?: JobReference;
  readonly schema?: { readonly fields?: unknown };
  readonly rows?: unknown;
  readonly totalRows?: string;
  readonly pageToken?: string;
  readonly totalBytesProcessed?: string;
  readonly totalBytesBilled?: string;
  readonly errors?: readonly ErrorProto[];
}

/** A job: what a dry run (jobs.insert) and jobs.get answer. `errorResult` is there where it has failed. */
export interface JobResource {
  readonly status?: { readonly errorResult?: ErrorProto; readonly errors?: readonly ErrorProto[] };
  readonly statistics?: {
    readonly totalBytesProcessed?: string;
    readonly query?: DryRunQuery;
  };
}

export interface DryRunQuery {
  readonly statementType?: string;
  readonly totalBytesProcessed?: string;
  readonly referencedTables?: readonly unknown[];
  readonly referencedRoutines?: readonly unknown[];
  readonly schema?: { readonly fields?: unknown };
}

/** What tables.get answers. */
export interface TableResource {
  readonly schema?: { readonly fields?: unknown };
  readonly timePartitioning?: { readonly field?: string };
  readonly requirePartitionFilter?: boolean;
}

/** What tables.list answers. */
export interface TableList {
  readonly tables?: readonly {
    readonly tableReference?: { readonly tableId?: string };
    readonly type?: string;
    /** Milliseconds since the epoch. */
    readonly creationTime?: string;
  }[];
  readonly nextPageToken?: string;
}

/** What a page of a result holds, read with distrust: other services than BigQuery answer too. */

/** @throws ApiFailure for what is no list */
export function rowsOf({ rows }: QueryResponse): unknown[] {
  // BigQuery omits empty rows.
  if (rows === undefined || rows === null) return [];
  if (Array.isArray(rows)) return rows;
  throw malformedAnswer('Rows are not a list.');
}

/** The JSON text of a row. @throws ApiFailure for one that does not fit */
export function writeRow({ write }: ResultShape, row: unknown): string {
  try {
    return write(row);
  } catch (error) {
    if (error instanceof MalformedRow) throw malformedAnswer('A row does not fit its schema.');
    throw error;
  }
}

/** A number of rows or bytes; null: there is none. */
export function countOf(text: unknown): bigint | null {
  return typeof text === 'string' && /^\d{1,20}$/.test(text) ? BigInt(text) : null;
}
