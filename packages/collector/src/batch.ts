import { createHash } from 'node:crypto';

import type { Task } from '@logquay/duckdb-engine/concurrency';
import { LONGEST_LINE, parseLine, printLine, MOST_ROW_VALUES, valuesOfRow } from '@logquay/duckdb-engine/rows';
import type { RestField } from '@logquay/googlesql/types';
import { rowOf } from './row';
import { isObject, type Shape, shapeOf } from './shape';

/** Where the events of a body go. Plain data. */
export type Destination =
  | { readonly table: string }
  /** Each event names its source at `member`; by its name in lower case, the table. */
  | { readonly member: readonly string[]; readonly tables: ReadonlyMap<string, string> };

/** A body that a shipper sent, and where its events go. Plain data. */
export interface BatchInput {
  readonly body: Uint8Array;
  readonly to: Destination;
  /** By table; absent: nothing is declared of it. */
  readonly fields: ReadonlyMap<string, readonly RestField[]>;
  /** What the key says, whatever the events say; null: they say it. */
  readonly project: string | null;
  /** When it arrived, ISO 8601. */
  readonly arrived: string;
}

/** The rows of one table, ready to be written. Plain data. */
export interface Batch {
  readonly table: string;
  /** SHA-256 of table, project and body: the same batch, sent again, has the same. */
  readonly digest: string;
  /** NDJSON in UTF-8, each row with its newline. */
  readonly lines: Uint8Array;
  readonly events: number;
  /** Events that are wider or longer than a row may be. */
  readonly refused: number;
}

/** What a body holds. Plain data. */
export interface Batches {
  /** One for each table. */
  readonly batches: readonly Batch[];
  /** Elements that are no events. */
  readonly refused: number;
  /** Events whose source feeds no table, or that name none. */
  readonly strayed: number;
}

/** Why a body is no batch. */
export interface BatchFault {
  readonly fault: 'not_utf8' | 'not_json' | 'too_many' | 'too_many_values' | 'too_long' | 'malformed';
  /** What of it is malformed, and how. */
  readonly what?: string;
}

export const MOST_EVENTS = 100_000;
/**
 * Values and records of a batch together. Gateways' events have one for each 24 bytes; millions of empty ones take more memory than a thread
 * has, and seconds until that is found out.
 */
export const MOST_VALUES = 1_000_000;
/** Bytes of all rows of a batch: each record of OpenTelemetry gets a copy of what a body says once of its resource. */
export const MOST_BYTES = 32 * 1024 * 1024;

/** Characters that are put together before they become bytes. */
const BLOCK = 65_536;

/** Rows of one table on their way into a batch. */
export class Rows {
  readonly #shape: Shape;
  readonly #blocks: Buffer[] = [];
  #text = '';
  #bytes = 0;
  #written = 0;
  #refused = 0;

  constructor(
    readonly table: string,
    private readonly fields: readonly RestField[] | null,
  ) {
    this.#shape = shapeFor(fields);
  }

  get shape(): Shape {
    return this.#shape;
  }

  /** Bytes of them, but for a few. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds a row. One that the reader of the file would leave out, when the sender has long been told that it is stored, is refused. */
  add(row: Readonly<Record<string, unknown>>): void {
    const { fields } = this;
    const isTooWide = fields !== null && valuesOfRow(fields, row) > MOST_ROW_VALUES;
    const line = isTooWide ? '' : printLine(row);
    if (isTooWide || (line.length > LONGEST_LINE / 3 && Buffer.byteLength(line) > LONGEST_LINE)) {
      this.#refused++;
      return;
    }
    this.#written++;
    this.#text += `${line}\n`;
    if (this.#text.length >= BLOCK) this.#flush();
  }

  #flush(): void {
    const block = Buffer.from(this.#text);
    this.#blocks.push(block);
    this.#bytes += block.length;
    this.#text = '';
  }

  /** @param identity what the rows are made of, beside the body: of equal bytes it makes other batches */
  batch(body: Uint8Array, identity: string): Batch {
    const digest = createHash('sha256').update(identity).update('\0').update(body).digest('hex').slice(0, 32);
    this.#flush();
    const lines = Buffer.concat(this.#blocks);
    return { table: this.table, digest, lines, events: this.#written, refused: this.#refused };
  }
}

/** Reads a batch of events. */
function readBatch(input: BatchInput): Batches | BatchFault {
  const { body, to, fields, project, arrived } = input;
  const events = eventsOf(body);
  if ('fault' in events) return events;
  if (events.length > MOST_EVENTS) return { fault: 'too_many' };
  const byTable = new Map<string, Rows>();
  if ('table' in to) byTable.set(to.table, new Rows(to.table, fields.get(to.table) ?? null));
  let refused = 0;
  let strayed = 0;
  for (const event of events) {
    const table = 'table' in to ? to.table : to.tables.get(sourceIn(event, to.member) ?? '');
    if (table === undefined) {
      strayed++;
      continue;
    }
    const rows = byTable.get(table) ?? new Rows(table, fields.get(table) ?? null);
    byTable.set(table, rows);
    const row = rowOf(event, rows, arrived, project);
    if (row === null) refused++;
    else rows.add(row);
  }
  const batches = [...byTable.values()].map((rows) => rows.batch(body, identityOf(rows.table, project)));
  return { batches, refused, strayed };
}

/** Of the same bytes that keys of two projects send, neither is the other's again. */
export function identityOf(table: string, project: string | null): string {
  return project === null ? table : JSON.stringify([table, project]);
}

/** The source that an event names, in lower case; null: none. */
function sourceIn(event: unknown, member: readonly string[]): string | null {
  let value = event;
  for (const name of member) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : null;
  return typeof value === 'string' ? value.toLowerCase() : null;
}

/** `readBatch` for a thread. */
export const BATCH_TASK: Task<BatchInput, Batches | BatchFault> = {
  file: __filename,
  name: 'BATCH_TASK',
  run: readBatch,
};

/** The JSON of a body. */
export function jsonOf(body: Uint8Array): { readonly value: unknown } | BatchFault {
  if (hasMoreValues(body, MOST_VALUES)) return { fault: 'too_many_values' };
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return { fault: 'not_utf8' };
  }
  try {
    return { value: parseLine(text) };
  } catch {
    return { fault: 'not_json' };
  }
}

/** A list of events, `{"batch": [...]}`, or one event. */
function eventsOf(body: Uint8Array): readonly unknown[] | BatchFault {
  const json = jsonOf(body);
  if ('fault' in json) return json;
  const { value } = json;
  if (Array.isArray(value)) return value as unknown[];
  if (!isObject(value)) return { fault: 'not_json' };
  const { batch } = value;
  return Array.isArray(batch) ? (batch as unknown[]) : [value];
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Each value of a list or record but the first has a comma before it, and the first an opening bracket or brace. */
const BEFORE_VALUE = new Set([0x2c, 0x5b, 0x7b]);

/** Whether a text, if it is JSON at all, has more values and records than `most`. */
export function hasMoreValues(body: Uint8Array, most: number): boolean {
  // Each takes a byte, beside what is before it.
  if (body.length <= 2 * most) return false;
  let values = 0;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at] ?? 0;
    if (byte === QUOTE) at = endOfString(body, at);
    else if (BEFORE_VALUE.has(byte) && ++values > most) return true;
  }
  return false;
}

/** Where the quote is that ends a string; the end of the text where there is none. @param at the one that begins it */
function endOfString(body: Uint8Array, at: number): number {
  for (let i = at + 1; i < body.length; i++) {
    if (body[i] === QUOTE) return i;
    if (body[i] === BACKSLASH) i++;
  }
  return body.length;
}

const shapes = new WeakMap<readonly RestField[], Shape>();

function shapeFor(fields: readonly RestField[] | null): Shape {
  if (fields === null) return null;
  const shape = shapes.get(fields) ?? shapeOf(fields);
  shapes.set(fields, shape);
  return shape;
}
