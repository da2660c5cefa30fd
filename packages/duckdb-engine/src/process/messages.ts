/**
 * What the service's process and a process of the embedded engine say to each other, as plain data: it is copied by
 * structured clone, which copies bytes as they are (docs/decisions/rows-as-json-text.md).
 */
import { type ErrorDetails, type Reason, ServiceError } from '../contract/service-error';
import { QueryError, type QueryFault, type NamedType, type TableSchema } from '@logquay/googlesql/types';
import type { Span } from '@logquay/googlesql/syntax';
import type { Standing } from '../engine/log';
import type {
  ArrivedResult,
  BoundParameter,
  Engine,
  EngineQuery,
  EngineResult,
  FolderStatus,
  LineForm,
  TableSchemas,
} from '../contract/contract';
import type { Contents } from '../engine/database';
import { DataFault, messageOf } from '../engine/native-error';
import type { DuckDbOptions } from '../engine/options';
import type { Written } from './lines-file';
import type { WrittenRows } from './rows-memory';

/** What a process is for: it runs queries over the data, or plans consumers' statements and holds none. */
export type Opening =
  | {
      readonly role: 'data';
      readonly options: PlainOptions;
      readonly before: Contents | null;
      /** Folders of this run of the service, removed where that can no longer do it. */
      readonly folders: readonly string[];
    }
  | { readonly role: 'planning' };

/** Options that another process can be given. */
export type PlainOptions = Omit<DuckDbOptions, 'log' | 'onStatus'>;

/** As of `Engine.runArrived`. */
export type ArrivedOf = Parameters<NonNullable<Engine['runArrived']>>[1];

export type Request =
  | { readonly kind: 'run'; readonly query: EngineQuery }
  /** @param file that its lines may be written to; null: none */
  | { readonly kind: 'stream'; readonly query: EngineQuery; readonly file: string | null }
  | { readonly kind: 'copy'; readonly query: EngineQuery; readonly path: string }
  | { readonly kind: 'arrived'; readonly query: EngineQuery; readonly range: ArrivedOf }
  | { readonly kind: 'tables'; readonly paths: readonly (readonly string[])[] }
  | { readonly kind: 'describe'; readonly sql: string; readonly parameters: readonly BoundParameter[] }
  | {
      readonly kind: 'inspect';
      readonly statement: string;
      readonly tables: readonly TableSchema[];
      readonly parameters: readonly BoundParameter[];
    }
  | { readonly kind: 'ping' };

/** What each request is answered with; of a run the rows come before, of a stream the lines, part by part. */
export interface Answers {
  run: Pick<EngineResult, 'columns' | 'truncated'>;
  /** Whether there are more rows. */
  stream: boolean;
  /** How many rows there are. */
  copy: number;
  arrived: Pick<ArrivedResult, 'columns' | 'truncated' | 'epoch' | 'upTo'>;
  tables: TableSchemas;
  describe: readonly NamedType[];
  inspect: undefined;
  ping: undefined;
}

/** An error that has to be the same one on the other side. */
export type Failure =
  | {
      readonly type: 'query';
      readonly fault: QueryFault;
      readonly message: string;
      readonly span: Span | null;
      readonly details: ErrorDetails;
    }
  | { readonly type: 'service'; readonly reason: Reason; readonly message: string; readonly details: ErrorDetails }
  | { readonly type: 'abort'; readonly message: string }
  | { readonly type: 'data'; readonly message: string }
  | { readonly type: 'other'; readonly message: string; readonly stack: string | null };

export type Level = 'info' | 'warn' | 'error';

export type ToEngine =
  | { readonly kind: 'open'; readonly opening: Opening }
  /** @param timeout milliseconds until the deadline: clocks of two processes do not compare */
  | {
      readonly kind: 'call';
      readonly id: number;
      readonly request: Request;
      readonly timeout: number;
      readonly keyName: string;
      /** Of its rows in memory of both; null: none. */
      readonly place: number | null;
    }
  | { readonly kind: 'cancel'; readonly id: number }
  /** One part of a stream's lines has been taken. */
  | { readonly kind: 'taken'; readonly id: number }
  /** To be answered at once, by who can. */
  | { readonly kind: 'beat' }
  | { readonly kind: 'close' };

export type FromEngine =
  /** The tables are known; what reads rows waits, over there, until they can be read. */
  | { readonly kind: 'opened'; readonly target: string; readonly contents: Contents | null }
  /** Rows can be read. */
  | { readonly kind: 'readable' }
  /** What is known of the data folder has changed. */
  | { readonly kind: 'status'; readonly status: FolderStatus; readonly target: string }
  /** It cannot go on, and ends. */
  | { readonly kind: 'broken'; readonly failure: Failure }
  /** Of a run: its rows come anew, those before are of no use. */
  | { readonly kind: 'again'; readonly id: number }
  | { readonly kind: 'rows'; readonly id: number; readonly lines: Uint8Array; readonly count: number }
  /** Of a stream, before its lines. */
  | { readonly kind: 'columns'; readonly id: number; readonly columns: readonly NamedType[]; readonly form: LineForm }
  | { readonly kind: 'lines'; readonly id: number; readonly lines: Uint8Array | Written; readonly count: number }
  /** The last of a call, which has really ended. */
  | {
      readonly kind: 'answer';
      readonly id: number;
      readonly answer: Answers[keyof Answers];
      /** Rows in their place, before all others; null: none. */
      readonly written: WrittenRows | null;
    }
  | { readonly kind: 'failure'; readonly id: number; readonly failure: Failure }
  /** @param resident bytes, for where the service cannot see them itself */
  | { readonly kind: 'beat'; readonly resident: number }
  | { readonly kind: 'log'; readonly level: Level; readonly facts: object; readonly message: string }
  | { readonly kind: 'progress'; readonly standing: Standing | null };

/** An error as plain data, for the other process. */
export function toFailure(error: unknown): Failure {
  const message = messageOf(error);
  if (error instanceof QueryError) {
    const { fault, span, details } = error;
    return { type: 'query', fault, message, span: span && { start: span.start, end: span.end }, details };
  }
  if (error instanceof ServiceError) {
    return { type: 'service', reason: error.reason, message, details: error.details };
  }
  if (error instanceof DataFault) return { type: 'data', message };
  if (error instanceof DOMException && error.name === 'AbortError') return { type: 'abort', message };
  return { type: 'other', message, stack: error instanceof Error ? (error.stack ?? null) : null };
}

/** The error that it was. */
export function toError(failure: Failure): Error {
  switch (failure.type) {
    case 'query':
      return new QueryError(failure.fault, failure.message, failure.span, failure.details);
    case 'service':
      return new ServiceError(failure.reason, failure.message, failure.details);
    case 'abort':
      return new DOMException(failure.message, 'AbortError');
    case 'data':
      return new DataFault(failure.message);
    case 'other': {
      const error = new Error(failure.message);
      if (failure.stack !== null) error.stack = failure.stack;
      return error;
    }
  }
}
