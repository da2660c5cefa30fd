/** The audit log (docs/operations.md): a line of JSON for each request of a key, and for each that no key was found for. */
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, statSync, writeSync } from 'node:fs';

import { groupOf } from '@logquay/duckdb-engine/concurrency';
import type { CompletedRequest } from '../telemetry';
import { LineWriter } from '../log/line-writer';

/** Characters of lines that may wait. */
const MOST_WAITING = 4 * 1024 ** 2;
/** Milliseconds between two looks whether the file was renamed. */
const LOOK = 1_000;

export class AuditLog {
  #fd: number | null = null;
  readonly #lines: LineWriter;
  readonly #timer = setInterval(() => this.#look(), LOOK).unref();

  /** @param withText whether lines hold the SQL and LQL of requests, beside their hash */
  constructor(
    private readonly file: string,
    private readonly withText: boolean,
  ) {
    this.#look();
    this.#lines = new LineWriter(-1, {
      mostWaiting: MOST_WAITING,
      writeSync: (bytes) => {
        if (this.#fd === null) this.#open();
        return writeSync(this.#fd ?? -1, bytes);
      },
    });
  }

  /** Lines that could not be written. */
  get dropped(): number {
    return this.#lines.dropped;
  }

  /** Called with the system's code when lines begin to be lost, and with null when they are written again. */
  onFault(listener: (fault: string | null) => void): void {
    this.#lines.onFault(listener);
  }

  /** @param url of the request: the names of its parameters are told, never their values */
  write(id: string, request: CompletedRequest, url: string): void {
    const { account, key, query, reason, billed } = request;
    // Beyond so many failures of an address, or a user, the answer is 429.
    if (key === undefined && reason !== 'unauthenticated' && reason !== 'rateLimitExceeded') return;
    const subject = account === undefined || account === groupOf(account) ? undefined : account;
    const names = new Set(new URLSearchParams(/\?([^#]*)/.exec(url)?.[1] ?? '').keys());
    for (const name of request.parameters ?? []) names.add(name);
    const line = {
      time: new Date().toISOString(),
      id,
      ...(subject === undefined ? { key } : { issuer: key, subject: subject.slice(groupOf(subject).length + 1) }),
      method: request.method,
      route: request.route,
      endpoint: request.endpoint,
      parameters: [...names],
      ...(query === undefined ? {} : { language: query.language, query: hashOf(query.text) }),
      ...(query === undefined || !this.withText ? {} : { text: query.text }),
      status: request.status,
      reason,
      rows: request.rows,
      billed: billed === undefined ? undefined : String(billed),
      bytes: request.bytes,
      ms: Math.round(request.milliseconds),
    };
    this.#lines.write(`${JSON.stringify(line)}\n`);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#lines.close();
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }

  /** Goes on in a new file where the old one was renamed or removed. */
  #look(): void {
    try {
      const [now, own] = [statSync(this.file), this.#fd === null ? null : fstatSync(this.#fd)];
      if (own?.ino === now.ino && own.dev === now.dev) return;
    } catch {
      // It is not there: a new one is made.
    }
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
    try {
      this.#open();
    } catch {
      // Told by the next line that cannot be written.
    }
  }

  #open(): void {
    this.#fd = openSync(this.file, 'a', 0o600);
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
