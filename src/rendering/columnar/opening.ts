import { writeSync } from 'node:fs';

import { ServiceError } from '../../errors';
import type { Column } from './column-type';

/** What an encoder's process is to write: the first line of its input, as JSON. */
export interface Opening {
  readonly columns: readonly Column[];
  readonly file: ExportFile;
}

/** Where DuckDB writes, and the most bytes that it may be there. */
export interface ExportFile {
  readonly path: string;
  readonly maxBytes: number;
}

/** Behind the last row: an input without it was broken off. No JSON text holds this byte. */
export const END = 0x00;

/** The exit code of an encoder whose file would be larger than allowed. */
export const TOO_LARGE = 3;

/** The file of an export has more bytes than it may have. */
export function fileTooLarge(): ServiceError {
  const message = 'The file of the export is larger than the service allows.';
  return new ServiceError('resourcesExceeded', message, { hint: 'Export a shorter time range at a time.' });
}

/** A process's output. It waits until all of it has been taken, as `Incoming` waits for what comes. */
export class Outgoing {
  constructor(private readonly fd: number) {}

  write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) at += writeSync(this.fd, bytes, at);
  }
}
