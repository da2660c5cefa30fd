/** What CACHE_DIR holds of one data folder: the hot file, which is written in transactions, and the sealed files that it names. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, realpath, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DuckDBConnection, LIST, listValue, VARCHAR, version } from '@duckdb/node-api';

import { DataFault, messageOf } from '../engine/native-error';
import type { Log } from '../engine/log';
import { makeFolder } from '../process/workspace';
import { quoteName, quoteText } from '../sql';
import { MOST_OF_LIST, readBounded, replaceFile } from '../files';
import { faultKind } from './folder-faults';
import type { KnownFields } from './inferred-schema';

/** Raised when the way rows are stored changes: everything is read again then. */
const FORMAT = 2;
const STORE = 'store';
const BUILDING = 'building';
const CATALOGUE = 'catalogue.json';
const HOT_FILE = 'hot.duckdb';
/** Rows that are compressed together: no more are to be had in memory at once. */
export const ROW_GROUP = 20_480;
/** Bytes of the log before the hot file, beyond which it is to be merged into that: a start reads all of it. */
const LONG_LOG = 64 * 1024 * 1024;
/** Milliseconds between two tries to attach the hot file. */
const TRY_AGAIN = 1_000;
const TAKEN = 'Another process has CACHE_DIR';
/** To attach again what could not be written. */
const MOST_TRIES = 30;

/** Held in this process: a lock of the operating system holds off other processes only. */
const held = new Set<string>();

export type RecordKind = 'store' | 'table' | 'source' | 'segment' | 'relation';

/** Something that the hot file knows, beside the rows. */
export interface StoredRecord<T = unknown> {
  readonly kind: RecordKind;
  readonly table: string;
  readonly id: string;
  readonly record: T;
}

/** Has a record written by a transaction; null: removed. */
export type Put = (kind: RecordKind, table: string, id: string | number, record: object | null) => void;

/** Written by another version of this program, or of DuckDB. */
class OtherVersion extends Error {}

export class Store {
  #connection: DuckDBConnection | null = null;
  #path: string;
  #epoch = '';
  #isTemporary = false;
  #records: readonly StoredRecord[] = [];

  /** @param dataDigest names the data folder, and no other of the same path, wherever what is read of it is stored */
  private constructor(
    private readonly cacheDir: string,
    readonly own: string,
    readonly dataDigest: string,
    private readonly log: Log,
  ) {
    this.#path = own;
  }

  static async of(cacheDir: string, dataDir: string, log: Log): Promise<Store> {
    const path = await realpath(dataDir);
    const { ino, birthtimeNs } = await stat(path, { bigint: true });
    const own = join(cacheDir, sha256(path).slice(0, 16));
    // Containers have other data under one path, in volumes whose roots have the same number; a file system may know no times of birth.
    const birth = birthtimeNs > 0n ? birthtimeNs : own;
    return new Store(cacheDir, own, sha256(`${path}\n${ino}\n${birth}`), log);
  }

  /** Holds nothing but the hot file and sealed ones: the only folder whose files DuckDB may open once it is closed to others. */
  get files(): string {
    return join(this.#path, STORE);
  }

  filesOf(table: string): string {
    return join(this.files, table);
  }

  /** Has what tables are known to be where `readCatalogue` finds it. What keeps it from that is of no account. */
  async publish(tables: ReadonlyMap<string, KnownFields>): Promise<void> {
    if (this.#isTemporary) return;
    const text = JSON.stringify({ format: FORMAT, data: this.dataDigest, tables: Object.fromEntries(tables) });
    await replaceFile(join(this.#path, CATALOGUE), text).catch(() => undefined);
  }

  /** What a file is made in that is not written in the database of the hot file. */
  get building(): string {
    return join(this.#path, BUILDING);
  }

  /** Names the count of arrivals: numbers of one epoch can be compared. */
  get epoch(): string {
    return this.#epoch;
  }

  async make(): Promise<void> {
    await mkdir(this.files, { recursive: true });
  }

  /**
   * Attaches the hot file, which no other process can meanwhile, as `hot`. What keeps it from that is tried again until it is gone:
   * what is stored remains as it is.
   *
   * @param wait called with the reason while it cannot be attached, and with null when it is; null: a temporary folder is taken instead
   * @throws DataFault where that cannot be used, either
   */
  async hold(connection: DuckDBConnection, wait: ((fault: string | null) => void) | null): Promise<void> {
    this.#connection = connection;
    this.#path = this.own;
    for (;;) {
      const fault = await this.#open();
      if (fault === null) break;
      if (wait === null) await this.#moveAside(fault);
      else {
        wait(`${fault}: nothing is served until that ends.`);
        await sleep(TRY_AGAIN);
      }
    }
    wait?.(null);
  }

  async #moveAside(fault: string): Promise<void> {
    const folder = this.#isTemporary ? null : await makeFolder(this.cacheDir, 'store');
    if (folder === null) throw new DataFault(`${fault} (CACHE_DIR ${this.cacheDir})`);
    this.#path = folder;
    this.#isTemporary = true;
    this.log.warn({ folder }, `${fault}: rows are read into a temporary folder`);
  }

  /** @returns why it cannot be attached for now; null: it is */
  async #open(): Promise<string | null> {
    const file = join(this.files, HOT_FILE);
    if (held.has(file)) return TAKEN;
    held.add(file);
    const open = async (): Promise<void> => {
      await this.make();
      await this.#run(`ATTACH ${quoteText(file)} AS hot (ROW_GROUP_SIZE ${ROW_GROUP})`);
      await this.#load();
    };
    try {
      await open().catch(async (error: unknown) => {
        // Whatever else it is, the rows are good.
        if (!isDamage(error)) throw error;
        this.log.warn({ file }, 'The store is damaged, or of another version: all rows are read again');
        await this.#detach();
        await remove(this.files);
        await open();
      });
      return null;
    } catch (error) {
      await this.#detach();
      held.delete(file);
      return isLocked(error) ? TAKEN : `CACHE_DIR cannot be used (${faultKind(error)})`;
    }
  }

  async #detach(): Promise<void> {
    await this.#run('DETACH hot').catch(() => undefined);
  }

  /** @throws what reading damaged records throws */
  async #load(): Promise<void> {
    const columns = 'kind VARCHAR, tab VARCHAR, id VARCHAR, record VARCHAR';
    await this.#run(`CREATE TABLE IF NOT EXISTS hot.records (${columns})`);
    const found = await this.#connection!.runAndReadAll('SELECT kind, tab, id, record FROM hot.records');
    const records = found.getRows() as [RecordKind, string, string, string][];
    this.#records = records.map(([kind, table, id, text]) => ({
      kind,
      table,
      id,
      record: JSON.parse(text) as unknown,
    }));
    const store = this.#records.find(({ kind }) => kind === 'store')?.record;
    const { format, duckdb, epoch } = (store ?? {}) as Partial<Record<'format' | 'duckdb' | 'epoch', unknown>>;
    if (format === FORMAT && duckdb === version() && typeof epoch === 'string') this.#epoch = epoch;
    else if (records.length > 0) throw new OtherVersion();
    else {
      this.#epoch = randomBytes(8).toString('hex');
      await this.commit((put) => put('store', '', '', { format: FORMAT, duckdb: version(), epoch: this.#epoch }));
    }
    await this.#removeUnknown();
  }

  /** Removes what no record names: what a process that was killed has left, and what an earlier version had. */
  async #removeUnknown(): Promise<void> {
    const known = new Set(
      this.#records.map(({ kind, table, id }) => (kind === 'segment' ? `${table}/${id}` : `${kind} ${id}`)),
    );
    for (const name of await this.#relations()) {
      if (name !== 'records' && !known.has(`relation ${name}`)) await this.#run(`DROP TABLE hot.${quoteName(name)}`);
    }
    const names = await readdir(this.#path);
    if (names.includes('manifests')) this.log.warn({}, 'CACHE_DIR is of an earlier version: all rows are read again');
    for (const name of names) if (name !== STORE && name !== CATALOGUE) await remove(join(this.#path, name));
    for (const table of await readdir(this.files)) {
      if (table.startsWith(HOT_FILE)) continue;
      const files = await readdir(this.filesOf(table)).catch(() => null);
      if (files === null) continue;
      const unknown = files.filter((file) => !known.has(`${table}/${file}`));
      for (const file of unknown) await remove(join(this.filesOf(table), file));
      if (unknown.length === files.length) await remove(this.filesOf(table));
    }
  }

  async #relations(): Promise<string[]> {
    const found = await this.#connection!.runAndReadAll(
      `SELECT table_name FROM duckdb_tables() WHERE database_name = 'hot'`,
    );
    return found.getRows().map(([name]) => String(name));
  }

  /** What was known of a table when the hot file was attached. */
  of<T>(kind: RecordKind, table: string): readonly StoredRecord<T>[] {
    return this.#records.filter((one): one is StoredRecord<T> => one.kind === kind && one.table === table);
  }

  /** Tables that were known then. */
  get tables(): ReadonlySet<string> {
    return new Set(this.#records.flatMap(({ kind, table }) => (kind === 'table' ? table : [])));
  }

  /** Removes all that is known of a table but its numbers. */
  async forget(table: string): Promise<void> {
    const gone = this.#records.filter((one) => one.table === table && one.kind !== 'table' && one.kind !== 'store');
    this.#records = this.#records.filter((one) => !gone.includes(one));
    if (gone.length === 0) return;
    await this.commit((put) => gone.forEach(({ kind, id }) => put(kind, table, id, null)));
    for (const { kind, id } of gone) if (kind === 'relation') await this.#run(`DROP TABLE hot.${quoteName(id)}`);
    await remove(this.filesOf(table));
  }

  /** Does all of it or nothing, and settles when it will be there whatever happens. */
  async commit(work: (put: Put) => Promise<void> | void): Promise<void> {
    const records: [kind: string, table: string, id: string, text: string | null][] = [];
    await this.#run('BEGIN TRANSACTION');
    try {
      await work((kind, table, id, record) => {
        records.push([kind, table, String(id), record === null ? null : JSON.stringify(record)]);
      });
      await this.#write(records);
      await this.#run('COMMIT');
    } catch (error) {
      // A commit that has failed has rolled back.
      await this.#run('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }

  async #write(records: readonly (readonly (string | null)[])[]): Promise<void> {
    if (records.length === 0) return;
    const given = '(SELECT unnest($1) AS kind, unnest($2) AS tab, unnest($3) AS id, unnest($4) AS record) AS given';
    const lists = [0, 1, 2, 3].map((i) => listValue(records.map((record) => record[i] ?? null)));
    const types = lists.map(() => LIST(VARCHAR));
    const same = 'records.kind = given.kind AND records.tab = given.tab AND records.id = given.id';
    await this.#connection!.run(`DELETE FROM hot.records USING ${given} WHERE ${same}`, lists, types);
    await this.#connection!.run(`INSERT INTO hot.records FROM ${given} WHERE record IS NOT NULL`, lists, types);
  }

  /** Whether `checkpoint` is due: best when there are no rows in the hot file. */
  async isLong(): Promise<boolean> {
    const found = await stat(join(this.files, `${HOT_FILE}.wal`)).catch(() => null);
    return (found?.size ?? 0) > LONG_LOG;
  }

  /** Writes the hot file anew, in which rows take a hundredth of the memory; nothing is to be added to their relations afterwards. */
  async checkpoint(): Promise<void> {
    try {
      await this.#run('CHECKPOINT hot');
    } catch (error) {
      // It may have been the wrong moment; or the file cannot be read any more, until it is attached again as it was.
      const isGood = await this.#run('SELECT count(*) FROM hot.records').then(
        () => true,
        () => false,
      );
      if (isGood) return;
      await this.#attachAgain();
      throw error;
    }
  }

  /** Who reads the file as it was holds it for a while. */
  async #attachAgain(): Promise<void> {
    await this.#detach();
    const file = quoteText(join(this.files, HOT_FILE));
    for (let tries = 1; ; tries++) {
      try {
        await this.#run(`ATTACH ${file} AS hot (ROW_GROUP_SIZE ${ROW_GROUP})`);
        return;
      } catch (error) {
        if (tries === MOST_TRIES) throw error;
        await sleep(TRY_AGAIN);
      }
    }
  }

  /** Called when the database is closed. */
  async end(): Promise<void> {
    if (this.#connection === null) return;
    this.#connection = null;
    held.delete(join(this.files, HOT_FILE));
    if (this.#isTemporary) await remove(this.#path);
    this.#isTemporary = false;
  }

  async #run(sql: string): Promise<void> {
    await this.#connection!.run(sql);
  }
}

/** What the service that has a CACHE_DIR knows of the tables of a data folder: it alone can attach the store. Empty: nothing is known. */
export async function readCatalogue(cacheDir: string, dataDir: string): Promise<ReadonlyMap<string, KnownFields>> {
  try {
    const { own, dataDigest } = await Store.of(cacheDir, dataDir, QUIET);
    const text = await readBounded(join(own, CATALOGUE), MOST_OF_LIST);
    const found = JSON.parse(text.toString()) as Catalogue;
    return new Map(found.format === FORMAT && found.data === dataDigest ? Object.entries(found.tables) : []);
  } catch {
    return new Map();
  }
}

interface Catalogue {
  readonly format: number;
  readonly data: string;
  readonly tables: Readonly<Record<string, KnownFields>>;
}

const quiet = (): void => undefined;
const QUIET: Log = { info: quiet, warn: quiet, error: quiet };

/** DuckDB has no codes: its words for a file that is not as it wrote it, or of a format that it does not know. */
export function isDamage(error: unknown): boolean {
  if (error instanceof OtherVersion) return true;
  return /not a valid DuckDB database|checksum|corrupt|deserializ|Could not read enough bytes|database file with version/i.test(
    messageOf(error),
  );
}

function isLocked(error: unknown): boolean {
  return /Could not set lock/.test(messageOf(error));
}

/** What remains is written over. */
async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => undefined);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
