import { createHash } from 'node:crypto';

import type { Task } from '@logquay/duckdb-engine/concurrency';
import { parseLine, printLine, MOST_ROW_VALUES, valuesOfRow } from '@logquay/duckdb-engine/rows';
import type { RestField } from '@logquay/googlesql/types';
import { rowOf } from './row';
import { isObject, type Shape, shapeOf } from './shape';

/** A body that a shipper sent, and where its events go. Plain data. */
export interface BatchInput {
  readonly body: Uint8Array;
  readonly table: string;
  /** null: nothing is declared. */
  readonly fields: readonly RestField[] | null;
  /** When it arrived, ISO 8601. */
  readonly arrived: string;
}

/** Its rows, ready to be written. Plain data. */
export interface Batch {
  /** SHA-256 of table and body: the same batch, sent again, has the same. */
  readonly digest: string;
  /** NDJSON in UTF-8, each row with its newline. */
  readonly lines: Uint8Array;
  readonly events: number;
  /** Elements of the batch that are no events, or wider than a row may be. */
  readonly refused: number;
}

/** Why a body is no batch. */
export type BatchFault = 'not_utf8' | 'not_json' | 'too_many' | 'too_many_values';

export const MOST_EVENTS = 100_000;
/**
 * Values and records of a batch together. Gateways' events have one for each 24 bytes; millions of empty ones take more memory than a thread
 * has, and seconds until that is found out.
 */
export const MOST_VALUES = 1_000_000;

/** Characters that are put together before they become bytes. */
const BLOCK = 65_536;

/** Reads a batch. */
export function readBatch(input: BatchInput): Batch | BatchFault {
  const { body, table, fields, arrived } = input;
  const events = eventsOf(body);
  if (typeof events === 'string') return events;
  if (events.length > MOST_EVENTS) return 'too_many';
  const destination = { table, shape: shapeFor(fields) };
  const blocks: Buffer[] = [];
  let text = '';
  let written = 0;
  for (const event of events) {
    const row = rowOf(event, destination, arrived);
    // The reader of the file would leave such a row out when the sender has long been told that it is stored.
    if (row === null || (fields !== null && valuesOfRow(fields, row) > MOST_ROW_VALUES)) continue;
    written++;
    text += `${printLine(row)}\n`;
    if (text.length < BLOCK) continue;
    blocks.push(Buffer.from(text));
    text = '';
  }
  blocks.push(Buffer.from(text));
  const digest = createHash('sha256').update(table).update('\0').update(body).digest('hex').slice(0, 32);
  return { digest, lines: Buffer.concat(blocks), events: written, refused: events.length - written };
}

/** `readBatch` for a thread. */
export const BATCH_TASK: Task<BatchInput, Batch | BatchFault> = {
  file: __filename,
  name: 'BATCH_TASK',
  run: readBatch,
};

/** A list of events, `{"batch": [...]}`, or one event. */
function eventsOf(body: Uint8Array): readonly unknown[] | BatchFault {
  if (hasMoreValues(body, MOST_VALUES)) return 'too_many_values';
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return 'not_utf8';
  }
  let value: unknown;
  try {
    value = parseLine(text);
  } catch {
    return 'not_json';
  }
  if (Array.isArray(value)) return value as unknown[];
  if (!isObject(value)) return 'not_json';
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
