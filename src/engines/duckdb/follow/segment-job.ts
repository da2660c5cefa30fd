/** What a converter is to do, and what came of it: plain data, for another process. */
import type { RestField } from '../../../googlesql/rest-schema';
import type { DigestState } from './content-digest';
import type { Position } from './records';
import type { LeftOut, Segment } from './segment';
import type { Compression, SourceFormat } from './source-name';

/** How far a source has been read. */
export interface Progress {
  readonly position: Position;
  readonly digest: DigestState;
}

/** A part of a source's content, from a record on. */
export interface Range {
  readonly source: number;
  /** Of the file. */
  readonly path: string;
  readonly identity: string;
  readonly format: SourceFormat;
  readonly compression: Compression;
  readonly from: Progress;
  /** What it ends with; null: where the content or the job's bytes end. */
  readonly to: Progress | null;
  /** Whether the last record may come without its end. */
  readonly closed: boolean;
}

export interface RangeEnd extends Progress {
  /** Everything that was there has been read, but for a last record without its end. */
  readonly whole: boolean;
}

export interface SegmentJob {
  readonly table: string;
  readonly fields: readonly RestField[];
  /** Whether they are declared; otherwise they grow with the rows. */
  readonly declared: boolean;
  readonly ranges: readonly Range[];
  /** Segments that the new one takes the place of, and the sources of which their rows do not count. */
  readonly merged: readonly { readonly path: string; readonly segment: Segment; readonly dropped: readonly number[] }[];
  /** The table's other segments: their rows count where an id is generated. */
  readonly others: SegmentJob['merged'];
  /** The file to write. */
  readonly path: string;
  /** Takes all that is needed on the way; removed by who gives the job. */
  readonly folder: string;
  /** Bytes of content that are sorted at once: all, unless they can be written in chunks. */
  readonly atOnce: number;
  /** Bytes of content to read at most. */
  readonly most: number;
}

export interface SegmentResult {
  /** null: there were no rows. */
  readonly segment: Omit<Segment, 'file'> | null;
  readonly fields: readonly RestField[];
  /** By source: how far it is stored now. There is none for a file that could not be read, or is another one by now. */
  readonly ends: Readonly<Record<number, RangeEnd>>;
  /** Sources whose file does not hold (any more) what was read of it. */
  readonly changed: readonly number[];
  /** Sources whose content is not whole or could not be read: why. */
  readonly faults: Readonly<Record<number, string>>;
  readonly leftOut: LeftOut;
}
