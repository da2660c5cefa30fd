/** What is stored of a table, and of which parts of its sources: one file, replaced as a whole. */
import { open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { version } from '@duckdb/node-api';

import type { RestField } from '../../../googlesql/rest-schema';
import { codeOf } from '../engine/native-error';
import type { LeftOut, Segment } from './segment';
import type { Progress } from './segment-job';
import type { Compression, SourceFormat } from './source-name';

/** Raised when the way rows are stored changes: everything is converted again then. */
const FORMAT = 4;

/** A source, and how much of it is in segments. */
export interface SourceRecord extends Progress {
  readonly id: number;
  /** Relative to DATA_DIR. */
  readonly path: string;
  readonly identity: string;
  readonly format: SourceFormat;
  readonly compression: Compression;
  readonly family: string;
  readonly rotated: boolean;
  /** Of the file when it was read to its end, bytes and nanoseconds; a file that has both need not be read again. */
  readonly size: number;
  readonly modified: string;
}

export interface Manifest {
  readonly fields: readonly RestField[];
  /** Whether they are declared. */
  readonly declared: boolean;
  readonly sources: readonly SourceRecord[];
  /** Rows of sources that are not among `sources` do not count. */
  readonly segments: readonly Segment[];
  /** Numbers that have not been used. */
  readonly nextSource: number;
  readonly nextSegment: number;
  /** From what is in segments. */
  readonly leftOut: LeftOut;
}

/** null: there is none, or none that this version can use. */
export async function readManifest(path: string): Promise<Manifest | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null;
    throw error;
  }
  try {
    const { format, duckdb, ...manifest } = JSON.parse(text) as Manifest & { format: number; duckdb: string };
    return format === FORMAT && duckdb === version() ? manifest : null;
  } catch {
    return null;
  }
}

/** Replaces the manifest, so that it is there before or after a crash, whole in either case. */
export async function writeManifest(path: string, manifest: Manifest): Promise<void> {
  const unfinished = `${path}.${process.pid}.unfinished`;
  const file = await open(unfinished, 'w');
  try {
    await file.writeFile(JSON.stringify({ format: FORMAT, duckdb: version(), ...manifest }));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(unfinished, path);
  await synced(dirname(path));
}

/** Resolves when a file, or the names in a folder, remain there through a crash. */
export async function synced(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
