/** What queries read of a table: its segments, attached, and its tails, each as a part. */
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';

import { FIRST_INSTANT, LAST_INSTANT } from '../../../googlesql/literals/temporal';
import { columnsOf, type RestField } from '../../../googlesql/rest-schema';
import { type Part, type StoredTable, unknownPart } from '../data/part';
import { quoteName, quoteText } from '../sql';
import { castColumns } from './cast-columns';
import { sameFields } from './fields';
import { rulesOf } from './rows';
import { isNotOf, type Segment } from './segment';
import type { SegmentsOfTable } from './segments-of-table';
import type { Tails } from './tails';

/** Gives back what nobody reads any more. */
export type CleanUp = () => Promise<void>;

export interface PartsOptions {
  readonly name: string;
  readonly connection: DuckDBConnection;
  /** Of the segments. */
  readonly folder: string;
  /** The table's fields; null: they are inferred from its rows. */
  readonly declared: readonly RestField[] | null;
  /** Tells names of relations of one table from those of another. */
  readonly index: number;
}

/** A relation with rows of a table, as they were stored. */
interface Stored {
  readonly relation: string;
  readonly fields: readonly RestField[];
  readonly single: readonly string[];
  /** Sources whose rows do not count. */
  readonly dropped: readonly number[];
}

export class TableParts {
  #parts: readonly Part[] = [];
  #fields: readonly RestField[] = [];
  /** Of all tables: one that is opened again has other parts than before at the same revision. */
  static #lastRevision = 0;
  #revision = 0;
  /** Names of attached segments, by file. */
  readonly #attached = new Map<string, string>();
  /** Relations that give a segment or a tail in another form, by what they give. */
  readonly #views = new Map<string, string>();
  #nextView = 0;

  constructor(private readonly options: PartsOptions) {}

  get table(): StoredTable {
    const schema = { name: this.options.name, columns: columnsOf(this.#fields) };
    return { schema, parts: this.#parts, revision: this.#revision };
  }

  /** Attaches segments, so that they can be read. @throws what DuckDB throws where one is damaged or gone */
  async attach(segments: readonly Segment[]): Promise<void> {
    for (const segment of segments) await this.#attach(segment);
  }

  /**
   * Makes the parts anew.
   *
   * @returns what to do when nobody reads the parts before any more
   * @throws what attaching a segment throws, which another process may have removed; the parts are as before then
   */
  async rebuild(fields: readonly RestField[], segments: SegmentsOfTable, tails: Tails): Promise<CleanUp> {
    const used = new Set<string>();
    const parts: Part[] = [];
    for (const segment of segments.all) {
      if (segments.rowsOf(segment) === 0) continue;
      const alias = await this.#attach(segment);
      const stored = { fields: segment.fields, dropped: segments.droppedOf(segment) };
      const { rows, odd, single } = segment;
      const bounds = boundsOf(segment);
      const same = sameFields(segment.fields, fields);
      const relation = await this.#inForm({ ...stored, relation: `${alias}.rows`, single }, fields, used);
      parts.push({
        relation,
        rows: rows - odd,
        ...bounds,
        single: new Set(same ? single : []),
        grows: false,
      });
      if (odd === 0) continue;
      const oddOnes = await this.#inForm({ ...stored, relation: `${alias}.odd`, single: [] }, fields, used);
      parts.push({ ...unknownPart(oddOnes), rows: odd, ...bounds });
    }
    for (const tail of tails.all) {
      const stored = { relation: tail.relation, fields: tail.fields, single: [], dropped: [...tail.dropped] };
      const relation = await this.#inForm(stored, fields, used);
      const { timed } = rulesOf(tail.fields, this.options.declared !== null);
      parts.push({ ...unknownPart(relation), rows: tail.rows, timed, grows: true });
    }
    if (parts.length === 0) {
      const empty = castColumns([], fields);
      const relation = `(SELECT ${empty === '' ? 'NULL' : empty} WHERE false)`;
      parts.push({ ...unknownPart(relation), timed: true });
    }
    this.#parts = parts;
    this.#fields = fields;
    this.#revision = ++TableParts.#lastRevision;
    return this.#unused(used, segments, tails);
  }

  /** What was used by the parts before alone. */
  #unused(used: ReadonlySet<string>, segments: SegmentsOfTable, tails: Tails): CleanUp {
    const { connection } = this.options;
    const views = [...this.#views].filter(([, view]) => !used.has(view));
    for (const [what] of views) this.#views.delete(what);
    const files = new Set(segments.all.map(({ file }) => file));
    const detached = [...this.#attached].filter(([file]) => !files.has(file));
    for (const [file] of detached) this.#attached.delete(file);
    const dropped = tails.all
      .map((tail) => ({ tail, sources: [...tail.dropped] }))
      .filter(({ sources }) => sources.length > 0);
    return async () => {
      for (const [, view] of views) await connection.run(`DROP VIEW IF EXISTS ${view}`);
      for (const [, alias] of detached) await connection.run(`DETACH ${alias}`);
      for (const { tail, sources } of dropped) if (tails.all.includes(tail)) await tail.clean(sources);
    };
  }

  async #attach({ file }: Segment): Promise<string> {
    const { connection, folder, index } = this.options;
    let alias = this.#attached.get(file);
    if (alias === undefined) {
      alias = quoteName(`segment ${index} ${file}`);
      await connection.run(`ATTACH ${quoteText(join(folder, file))} AS ${alias} (READ_ONLY)`);
      this.#attached.set(file, alias);
    }
    return alias;
  }

  /** The relation, or a view of it with the rows that count, in the form of the table now. */
  async #inForm(
    { relation, fields, single, dropped }: Stored,
    form: readonly RestField[],
    used: Set<string>,
  ): Promise<string> {
    const same = sameFields(fields, form);
    if (dropped.length === 0 && same) return relation;
    const columns = same
      ? fields.map(({ name }) => quoteName(name)).join(', ')
      : castColumns(fields, form, new Set(single));
    const where = dropped.length === 0 ? '' : ` WHERE ${isNotOf(dropped)}`;
    const text = `SELECT ${columns} FROM ${relation}${where}`;
    let view = this.#views.get(text);
    if (view === undefined) {
      view = quoteName(`view ${this.options.index} ${this.#nextView++}`);
      await this.options.connection.run(`CREATE VIEW ${view} AS ${text}`);
      this.#views.set(text, view);
    }
    used.add(view);
    return view;
  }

  async dispose(): Promise<void> {
    const { connection } = this.options;
    for (const view of this.#views.values()) await connection.run(`DROP VIEW IF EXISTS ${view}`);
    for (const alias of this.#attached.values()) await connection.run(`DETACH ${alias}`);
  }
}

/** Of a segment, which has bounds where all its rows have a time. */
function boundsOf({ earliest, latest }: Segment): Pick<Part, 'earliest' | 'latest' | 'timed'> {
  if (earliest === null || latest === null) return { earliest: null, latest: null, timed: false };
  const [first, last] = [BigInt(earliest), BigInt(latest)];
  return { earliest: first, latest: last, timed: first >= FIRST_INSTANT && last <= LAST_INSTANT };
}
