import path from 'node:path';

import type { Logger } from 'pino';

import { concurrently } from '@logquay/duckdb-engine/concurrency';
import type { RoleSettings } from '@logquay/googlesql/types';
import type { ReportFault } from '../health/health';
import { ClaimedValue, type Key } from '../keys/key';
import { type Definition, readDefinition } from './definition';
import { codeOf, findClashes, type Fingerprint, listQueries, readCatalogue, readUnchanged } from './directory';
import { type Endpoint, UUID } from './endpoint';
import { CatalogueError, describeFault, type Fault, FILE_START, type LineFault } from './settings';

/** A setting of `log` that no table of the query has a column for. */
export interface UnfitRole {
  readonly role: keyof RoleSettings;
  readonly reason: string;
}

/** Whether a stored query means something to the engine: names, types, functions. */
export type Resolution =
  | { readonly kind: 'resolved'; readonly unfit?: readonly UnfitRole[] }
  | { readonly kind: 'faulty'; readonly faults: readonly LineFault[] }
  /** The engine does not answer at the moment. */
  | { readonly kind: 'unreachable'; readonly reason: string };

/** Resolves a stored query against the engine's tables, as they are now; never rejects. */
export type ResolveStored = (endpoint: Endpoint) => Promise<Resolution>;

/** The faults of a file whose query was resolved; a text: why it could not be at the moment. */
export function faultsOf(file: string, resolution: Resolution): readonly Fault[] | string {
  switch (resolution.kind) {
    case 'resolved':
      return [];
    case 'faulty':
      return resolution.faults.map((fault) => ({ file, ...fault }));
    case 'unreachable':
      return resolution.reason;
  }
}

/** The stored endpoints as they are now. What a caller holds stays as it was when it asked. */
export interface Catalogue {
  /** By name. */
  current(): readonly Endpoint[];
  /** A UUID in any case is an id, everything else a name, exact and case-sensitive (docs/querying.md). */
  find(idOrName: string): Endpoint | null;
  /** Whether the stored query of an endpoint that is served means nothing to the engine, so that it cannot run. */
  isBroken(endpoint: Endpoint): boolean;
  /** Resolves when `isBroken` is known of an endpoint; null: it is. At a start with many that takes a while. */
  resolution(endpoint: Endpoint): Promise<unknown> | null;
  /**
   * Resolves every stored query, and from now on each changed one before it is served. Gives the faults: of endpoints that are
   * broken from the start, as there is no good version of them.
   *
   * @param awaited whether somebody waits for all of them; else they are resolved one after the other
   */
  resolveWith(resolve: ResolveStored, awaited?: boolean): Promise<readonly Fault[]>;
  /** Serves an endpoint that is in no file, in place of the one before, for as long as no file has its name or id. */
  serve(builtIn: Endpoint): void;
  /** Stops watching the directory. */
  close(): void;
}

export interface CatalogueOptions {
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Called with files that are not served, next to the log. */
  readonly report?: ReportFault;
  /** Milliseconds between two looks at the directory. A change is taken up at the second look that finds it the same. */
  readonly pollEvery?: number;
  /** Milliseconds after which what could not be resolved is resolved again: its tables may have changed. */
  readonly resolveEvery?: number;
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
  /** The engine did not answer when the candidate was to be resolved. */
  unreached: boolean;
  /** Not served, as it does not resolve. */
  refused: Definition | null;
  /** What is served has not been resolved: it is broken, or the engine did not answer. */
  unresolved: 'broken' | 'unreachable' | null;
  /** What was last logged against the file, so that it is logged once. */
  complaint: string;
}

/**
 * Opens the catalogue of a directory and keeps it up to date.
 *
 * Rejects with `CatalogueError` when any file has a fault. From then on a faulty change, or one that takes the id or name
 * of another file, is logged once and the last good version of that file keeps serving (docs/endpoints.md).
 * The directory is looked at every half second, less often where thousands of files make a look long: that works on every file
 * system, and a file counts only once two looks find it the same, so that a half-written or just renamed one is left alone.
 */
export async function openCatalogue(directory: string, options: CatalogueOptions): Promise<Catalogue> {
  const { files, faults } = await readCatalogue(directory);
  if (faults.length > 0) throw new CatalogueError(faults);
  const catalogue = new WatchedCatalogue(directory, options);
  for (const { name, fingerprint, definition } of files) {
    catalogue.states.set(name, { ...newState(), seen: fingerprint, read: fingerprint, serving: definition });
    for (const warning of definition.warnings) options.log.warn({ file: name }, warning);
  }
  catalogue.publish();
  if (files.length === 0) options.log.warn({ directory }, 'the catalogue is empty');
  catalogue.watch();
  return catalogue;
}

/** Faults that are reported at a time; the log has all of them. */
const MOST_REPORTED = 20;

/** Stored queries that are resolved at the same time: where somebody waits for all of them, and where nobody does. */
const RESOLVED_AT_ONCE = { awaited: 8, behind: 1 };

/** The pause after a look, as a multiple of what the look took, and its longest in milliseconds. */
const PAUSE_PER_LOOK = 50;
const LONGEST_PAUSE = 10_000;

class WatchedCatalogue implements Catalogue {
  readonly states = new Map<string, FileState>();
  private endpoints: readonly Endpoint[] = [];
  /** What is in no file, and whether a file has taken its place. */
  private builtIn: Endpoint | null = null;
  private replaced = false;
  private byId: ReadonlyMap<string, Endpoint> = new Map();
  private byName: ReadonlyMap<string, Endpoint> = new Map();
  private broken: ReadonlySet<Endpoint> = new Set();
  private resolve: ResolveStored | null = null;
  private resolvedAt = performance.now();
  private timer: NodeJS.Timeout | null = null;
  private closed = false;
  private complaint = '';
  /** At the start: what has not been resolved yet, with the work that does it. */
  private readonly pending = new Map<Endpoint, () => Promise<readonly Fault[]>>();
  private readonly log: CatalogueOptions['log'];
  private readonly pollEvery: number;
  private readonly resolveEvery: number;
  private readonly report: ReportFault;

  constructor(
    private readonly directory: string,
    { log, pollEvery = 500, resolveEvery = 10_000, report = () => undefined }: CatalogueOptions,
  ) {
    this.resolveEvery = resolveEvery;
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

  isBroken(endpoint: Endpoint): boolean {
    return this.broken.has(endpoint);
  }

  async resolveWith(resolve: ResolveStored, awaited = true): Promise<readonly Fault[]> {
    this.resolve = resolve;
    for (const [name, state] of this.states) {
      const endpoint = state.serving?.endpoint ?? null;
      if (endpoint === null) continue;
      let running: Promise<readonly Fault[]> | undefined;
      this.pending.set(endpoint, () => (running ??= this.resolveFirst(name, state, endpoint)));
    }
    const faults: Fault[] = [];
    const atOnce = awaited ? RESOLVED_AT_ONCE.awaited : RESOLVED_AT_ONCE.behind;
    await concurrently(atOnce, [...this.pending.values()], async (work) => {
      if (!this.closed) faults.push(...(await work()));
    });
    this.tell();
    return faults;
  }

  resolution(endpoint: Endpoint): Promise<unknown> | null {
    return this.pending.get(endpoint)?.() ?? null;
  }

  private async resolveFirst(name: string, state: FileState, endpoint: Endpoint): Promise<readonly Fault[]> {
    const faults = await this.resolveServed(path.join(this.directory, name), state);
    this.pending.delete(endpoint);
    if (faults.length > 0) this.publishBroken();
    return faults;
  }

  close(): void {
    this.closed = true;
    if (this.timer !== null) clearTimeout(this.timer);
  }

  /** Plans the next look. @param took milliseconds that the last one took */
  watch(took = 0): void {
    if (this.closed) return;
    const pause = Math.max(this.pollEvery, Math.min(LONGEST_PAUSE, took * PAUSE_PER_LOOK));
    this.timer = setTimeout(() => {
      const began = performance.now();
      void this.look()
        .catch((error: unknown) => {
          const complaint = 'looking for changes of the catalogue failed';
          if (complaint !== this.complaint) this.log.warn({ err: error }, complaint);
          this.complaint = complaint;
        })
        .then(() => {
          this.tell();
          this.watch(performance.now() - began);
        });
    }, pause);
    this.timer.unref();
  }

  serve(builtIn: Endpoint): void {
    this.builtIn = builtIn;
    this.publish();
  }

  /** Makes what the files serve the catalogue. */
  publish(): void {
    const { builtIn } = this;
    const served = [...this.states.values()].flatMap(({ serving }) => serving?.endpoint ?? []);
    if (builtIn !== null) {
      const other = served.find(({ id, name }) => id === builtIn.id || name === builtIn.name);
      if (other === undefined) served.push(builtIn);
      else if (!this.replaced)
        this.log.info(
          { file: other.file },
          `the built-in endpoint ${builtIn.name} is off: a stored query has its place`,
        );
      this.replaced = other !== undefined;
    }
    this.endpoints = served.sort((a, b) => (a.name < b.name ? -1 : 1));
    this.byId = new Map(served.map((endpoint) => [endpoint.id, endpoint]));
    this.byName = new Map(served.map((endpoint) => [endpoint.name, endpoint]));
    this.publishBroken();
  }

  private publishBroken(): void {
    const states = [...this.states.values()].filter(({ unresolved }) => unresolved === 'broken');
    this.broken = new Set(states.flatMap(({ serving }) => serving?.endpoint ?? []));
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
    const names = [...new Set([...this.states.keys(), ...listed.keys()])];
    const settled = names.filter((name) => this.isSettled(name, listed.get(name) ?? null));
    let changed = false;
    for (const name of settled) {
      const fingerprint = listed.get(name);
      if (fingerprint !== undefined && (await this.readChanged(name, fingerprint))) changed = true;
    }
    if (this.remove(settled.filter((name) => !listed.has(name)))) changed = true;
    if (await this.resolveAgain()) changed = true;
    if (changed && !this.closed) this.settle();
  }

  /** Whether this look and the one before found a file the same. */
  private isSettled(name: string, fingerprint: Fingerprint | null): boolean {
    const state = this.states.get(name) ?? newState();
    this.states.set(name, state);
    const settled = state.seen === fingerprint;
    state.seen = fingerprint;
    return settled;
  }

  /**
   * Takes files that are gone out of the catalogue, unless nothing would be left of it: that is what a folder looks like whose
   * file system is not mounted. Gives whether it did.
   */
  private remove(names: readonly string[]): boolean {
    const gone = new Set(names);
    const remains = [...this.states].some(
      ([name, { serving, candidate }]) => !gone.has(name) && (serving ?? candidate),
    );
    const refused = names.length > 0 && !remains && this.endpoints.length > 0;
    const complaint = refused
      ? 'no stored query is left in the directory; the catalogue stays as it is until there is one, or a restart'
      : '';
    if (refused && complaint !== this.complaint) this.log.warn({ directory: this.directory }, complaint);
    this.complaint = complaint;
    if (refused) return false;
    for (const name of names) {
      if (this.states.get(name)?.serving) this.log.info({ file: name }, 'a stored endpoint was removed');
      this.states.delete(name);
    }
    return names.length > 0;
  }

  /** Whether something about this file is to be taken up. */
  private async readChanged(name: string, fingerprint: Fingerprint): Promise<boolean> {
    const state = this.states.get(name);
    if (state === undefined || fingerprint === state.read) return false;
    const file = path.join(this.directory, name);
    try {
      const bytes = await readUnchanged(file, fingerprint);
      if (bytes === null) return false;
      state.read = fingerprint;
      return await this.takeUp(file, state, readDefinition(bytes, file));
    } catch (error) {
      this.complain(state, [{ file, ...FILE_START, reason: `cannot be read (${codeOf(error)})` }]);
      return false;
    }
  }

  private async takeUp(file: string, state: FileState, definition: Definition): Promise<boolean> {
    const { endpoint, faults } = definition;
    state.refused = null;
    if (endpoint === null) {
      state.candidate = null;
      this.complain(
        state,
        faults.map((fault) => ({ file, ...fault })),
      );
      return false;
    }
    const unchanged = endpoint.revision === state.serving?.endpoint?.revision;
    if (!unchanged) return this.consider(file, state, definition);
    state.candidate = null;
    if (state.unresolved === null) state.complaint = '';
    return true;
  }

  /** Whether a definition resolves, and may be served. */
  private async consider(file: string, state: FileState, definition: Definition): Promise<boolean> {
    const faults = definition.endpoint === null ? [] : await this.faultsFound(file, state, definition.endpoint);
    const refused = faults !== null && faults.length > 0;
    state.candidate = refused ? null : definition;
    state.unreached = faults === null;
    state.refused = refused ? definition : null;
    if (refused) this.complain(state, faults);
    return !refused;
  }

  /** Resolves what is served, for which there is no other version. */
  private async resolveServed(file: string, state: FileState): Promise<readonly Fault[]> {
    const endpoint = state.serving?.endpoint ?? null;
    if (endpoint === null) return [];
    const faults = await this.faultsFound(file, state, endpoint);
    const before = state.unresolved;
    // An engine that does not answer makes nothing better or worse.
    if (faults === null) {
      state.unresolved ??= 'unreachable';
      return [];
    }
    state.unresolved = faults.length > 0 ? 'broken' : null;
    if (faults.length > 0) this.complain(state, faults);
    else if (before !== null) {
      if (state.refused === null) state.complaint = '';
      this.log.info({ file, endpoint: endpoint.name }, 'a stored query resolves now');
    }
    return faults;
  }

  /** Resolves anew, now and then, whatever did not resolve. */
  private async resolveAgain(): Promise<boolean> {
    if (this.resolve === null || performance.now() - this.resolvedAt < this.resolveEvery) return false;
    let changed = false;
    await concurrently(RESOLVED_AT_ONCE.behind, [...this.states], async ([name, state]) => {
      const file = path.join(this.directory, name);
      const { refused, unresolved } = state;
      if (refused !== null && (await this.consider(file, state, refused))) changed = true;
      else if (unresolved !== null) {
        await this.resolveServed(file, state);
        if (state.unresolved === unresolved) return;
        changed = true;
        // With many queries, or a slow engine, the others take a while.
        this.publishBroken();
      }
    });
    this.resolvedAt = performance.now();
    return changed;
  }

  /** null: the engine does not answer, and what it cannot be asked is accepted. */
  private async faultsFound(file: string, state: FileState, endpoint: Endpoint): Promise<readonly Fault[] | null> {
    if (this.resolve === null) return null;
    const faults = faultsOf(file, await this.resolve(endpoint));
    if (typeof faults !== 'string') return faults;
    if (state.unresolved === null) {
      this.log.warn({ file, reason: faults }, 'a stored query could not be resolved and is accepted as it is');
    }
    return null;
  }

  /** Serves every candidate that clashes with no other file. */
  private settle(): void {
    const contenders = [...this.states].map(([file, { serving, candidate }]) => ({ file, serving, candidate }));
    contenders.sort((a, b) => (a.file < b.file ? -1 : 1));
    const clashes = findClashes(contenders);
    for (const [file, state] of this.states) {
      const clash = clashes.get(file);
      if (clash !== undefined) this.complain(state, [{ ...clash, column: 1, file: path.join(this.directory, file) }]);
      else if (state.candidate !== null) {
        state.serving = state.candidate;
        state.candidate = null;
        state.unresolved = state.unreached ? 'unreachable' : null;
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
    this.log.warn({ faults: lines }, `a stored endpoint has faults; ${outcomeOf(state)}`);
  }
}

function newState(): FileState {
  return {
    seen: null,
    read: null,
    serving: null,
    candidate: null,
    unreached: false,
    refused: null,
    unresolved: null,
    complaint: '',
  };
}

function outcomeOf({ serving, unresolved }: FileState): string {
  if (serving === null) return 'it is not served';
  return unresolved === 'broken' ? 'it is answered with endpointBroken' : 'its last good version keeps serving';
}

/**
 * Whether the endpoint exists for this key (docs/keys.md): it is on the key's list, by name or by id, and declares
 * every parameter that the key pins, a list for a list, as a pin fences by the stored query's own filter on it.
 */
export function mayRun(key: Key, endpoint: Endpoint): boolean {
  const named =
    key.endpoints !== '*' &&
    key.endpoints.some((entry) => entry === endpoint.name || entry.toLowerCase() === endpoint.id);
  // It shows every row that there is.
  if (endpoint.builtIn !== undefined)
    return key.pins.size === 0 && key.issuer === undefined && (named || key.operator === true);
  const listed = key.endpoints === '*' || named;
  const declares = ([pin, value]: readonly [string, unknown]): boolean =>
    endpoint.parameters.some(
      ({ name, list, type }) =>
        // What a claim says is no pattern.
        name === pin && (value instanceof ClaimedValue ? type !== 'regex' : list || typeof value === 'string'),
    );
  return listed && [...key.pins].every(declares);
}

/** The endpoints that a key may run; null: those of files, for everybody. */
export function visibleTo(key: Key | null, endpoints: readonly Endpoint[]): Endpoint[] {
  return endpoints.filter((endpoint) => (key === null ? endpoint.builtIn === undefined : mayRun(key, endpoint)));
}
