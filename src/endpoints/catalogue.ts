import path from 'node:path';

import type { Logger } from 'pino';

import type { ReportFault } from '../health/health';
import { findClashes } from './clashes';
import { type Definition, readDefinition } from './definition';
import { type Fingerprint, listQueries, readUnchanged } from './directory';
import type { Endpoint } from './endpoint';
import { CatalogueError, describeFault, type Fault } from './fault';
import { codeOf, readCatalogue } from './read-catalogue';
import { UUID } from './settings';

/** The stored endpoints as they are now. What a caller holds stays as it was when it asked. */
export interface Catalogue {
  /** By name. */
  current(): readonly Endpoint[];
  /** A UUID in any case is an id, everything else a name, exact and case-sensitive (docs/http.md). */
  find(idOrName: string): Endpoint | null;
  /** Stops watching the directory. */
  close(): void;
}

export interface CatalogueOptions {
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Called with files that are not served, next to the log. */
  readonly report?: ReportFault;
  /** Milliseconds between two looks at the directory. A change is taken up at the second look that finds it the same. */
  readonly pollEvery?: number;
}

/** What is known of one file. */
interface FileState {
  /** As of the last look. */
  seen: Fingerprint | null;
  /** As of the last reading; differs from `seen` while a change settles. */
  read: Fingerprint | null;
  serving: Definition | null;
  /** Sound in itself, but not served (yet): another file holds its id or name. */
  candidate: Definition | null;
  /** What was last logged against the file, so that it is logged once. */
  complaint: string;
}

/**
 * Opens the catalogue of a directory and keeps it up to date.
 *
 * Rejects with `CatalogueError` when any file has a fault. From then on a faulty change, or one that takes the id or name
 * of another file, is logged once and the last good version of that file keeps serving (docs/endpoints.md).
 * The directory is looked at every half second rather than watched: that works on every file system, and a file counts
 * only once two looks find it the same, so that a half-written or just renamed one is left alone.
 */
export async function openCatalogue(directory: string, options: CatalogueOptions): Promise<Catalogue> {
  const { files, faults } = await readCatalogue(directory);
  if (faults.length > 0) throw new CatalogueError(faults);
  const catalogue = new WatchedCatalogue(directory, options);
  for (const { name, fingerprint, definition } of files) {
    catalogue.states.set(name, {
      seen: fingerprint,
      read: fingerprint,
      serving: definition,
      candidate: null,
      complaint: '',
    });
  }
  catalogue.publish();
  if (files.length === 0) options.log.warn({ directory }, 'the catalogue is empty');
  catalogue.watch();
  return catalogue;
}

/** Faults that are reported at a time; the log has all of them. */
const MOST_REPORTED = 20;

class WatchedCatalogue implements Catalogue {
  readonly states = new Map<string, FileState>();
  private endpoints: readonly Endpoint[] = [];
  private byId: ReadonlyMap<string, Endpoint> = new Map();
  private byName: ReadonlyMap<string, Endpoint> = new Map();
  private timer: NodeJS.Timeout | null = null;
  private closed = false;
  private complaint = '';
  private readonly log: CatalogueOptions['log'];
  private readonly pollEvery: number;
  private readonly report: ReportFault;

  constructor(
    private readonly directory: string,
    { log, pollEvery = 500, report = () => undefined }: CatalogueOptions,
  ) {
    this.log = log;
    this.report = report;
    this.pollEvery = pollEvery;
  }

  current(): readonly Endpoint[] {
    return this.endpoints;
  }

  find(idOrName: string): Endpoint | null {
    const found = UUID.test(idOrName) ? this.byId.get(idOrName.toLowerCase()) : this.byName.get(idOrName);
    return found ?? null;
  }

  close(): void {
    this.closed = true;
    if (this.timer !== null) clearTimeout(this.timer);
  }

  watch(): void {
    if (this.closed) return;
    this.timer = setTimeout(() => {
      void this.look()
        .catch((error: unknown) => {
          const complaint = 'looking for changes of the catalogue failed';
          if (complaint !== this.complaint) this.log.warn({ err: error }, complaint);
          this.complaint = complaint;
        })
        .then(() => {
          this.tell();
          this.watch();
        });
    }, this.pollEvery);
    this.timer.unref();
  }

  /** Makes what the files serve the catalogue. */
  publish(): void {
    const served = [...this.states.values()].flatMap(({ serving }) => serving?.endpoint ?? []);
    this.endpoints = served.sort((a, b) => (a.name < b.name ? -1 : 1));
    this.byId = new Map(served.map((endpoint) => [endpoint.id, endpoint]));
    this.byName = new Map(served.map((endpoint) => [endpoint.name, endpoint]));
  }

  private async look(): Promise<void> {
    let listed: ReadonlyMap<string, Fingerprint>;
    try {
      listed = await listQueries(this.directory);
    } catch (error) {
      const complaint = `the directory of stored queries cannot be read (${codeOf(error)}); the catalogue stays as it is`;
      if (complaint !== this.complaint) this.log.warn({ directory: this.directory }, complaint);
      this.complaint = complaint;
      return;
    }
    let changed = false;
    for (const name of new Set([...this.states.keys(), ...listed.keys()])) {
      if (await this.lookAt(name, listed.get(name) ?? null)) changed = true;
    }
    if (changed && !this.closed) this.settle();
    this.complaint = '';
  }

  /** Whether something about this file is to be taken up. */
  private async lookAt(name: string, fingerprint: Fingerprint | null): Promise<boolean> {
    const state = this.states.get(name) ?? { seen: null, read: null, serving: null, candidate: null, complaint: '' };
    this.states.set(name, state);
    const settled = state.seen === fingerprint;
    state.seen = fingerprint;
    if (!settled || (fingerprint !== null && fingerprint === state.read)) return false;
    if (fingerprint === null) {
      this.states.delete(name);
      if (state.serving !== null) this.log.info({ file: name }, 'a stored endpoint was removed');
      return true;
    }
    const file = path.join(this.directory, name);
    try {
      const bytes = await readUnchanged(file, fingerprint);
      if (bytes === null) return false;
      state.read = fingerprint;
      return this.takeUp(file, state, readDefinition(bytes));
    } catch (error) {
      this.complain(state, [{ file, line: 1, reason: `cannot be read (${codeOf(error)})` }]);
      return false;
    }
  }

  private takeUp(file: string, state: FileState, definition: Definition): boolean {
    const { endpoint, faults } = definition;
    if (endpoint === null) {
      state.candidate = null;
      this.complain(
        state,
        faults.map((fault) => ({ file, ...fault })),
      );
      return false;
    }
    const unchanged = endpoint.revision === state.serving?.endpoint?.revision;
    state.candidate = unchanged ? null : definition;
    if (unchanged) state.complaint = '';
    return true;
  }

  /** Serves every candidate that clashes with no other file. */
  private settle(): void {
    const contenders = [...this.states].map(([file, { serving, candidate }]) => ({ file, serving, candidate }));
    contenders.sort((a, b) => (a.file < b.file ? -1 : 1));
    const clashes = findClashes(contenders);
    for (const [file, state] of this.states) {
      const clash = clashes.get(file);
      if (clash !== undefined) this.complain(state, [{ ...clash, file: path.join(this.directory, file) }]);
      else if (state.candidate !== null) {
        state.serving = state.candidate;
        state.candidate = null;
        state.complaint = '';
        this.log.info({ file, endpoint: state.serving.endpoint?.name }, 'a stored endpoint was taken up');
      }
    }
    this.publish();
  }

  /** Reports everything that is not served as the files say. */
  private tell(): void {
    if (this.closed) return;
    const faults = [this.complaint, ...[...this.states.values()].map(({ complaint }) => complaint)];
    this.report(
      'stored_queries',
      faults
        .filter((fault) => fault !== '')
        .slice(0, MOST_REPORTED)
        .join('\n') || null,
    );
  }

  private complain(state: FileState, faults: readonly Fault[]): void {
    const lines = faults.map(describeFault);
    const complaint = lines.join('\n');
    if (complaint === state.complaint) return;
    state.complaint = complaint;
    const outcome = state.serving === null ? 'it is not served' : 'its last good version keeps serving';
    this.log.warn({ faults: lines }, `a stored endpoint has faults; ${outcome}`);
  }
}
