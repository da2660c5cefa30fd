/** What queries read of a table: its sealed files, attached, and its hot relations, each as a part. */
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';

import { FIRST_INSTANT, LAST_INSTANT, type RestField, type TimeUnits } from '@logquay/googlesql/types';
import { type Part, type Shard, type StoredTable, unknownPart } from '../data/part';
import { schemaOf, timeColumnOf } from '../data/time-column';
import { quoteName, quoteText } from '../sql';
import { castColumns, ARRIVAL_COLUMN, isNotOf, type Segment, type SegmentsOfTable, SOURCE_COLUMN } from './segment';
import { sameFields } from './inferred-schema';
import type { HotRelation } from './hot-relations';
import { rulesOf } from './rows';

/** Gives back what nobody reads any more. @param connection that has no transaction */
export type CleanUp = (connection: DuckDBConnection) => Promise<void>;

export interface PartsOptions {
  readonly name: string;
  readonly connection: DuckDBConnection;
  /** Of the sealed files. */
  readonly folder: string;
  /** As of `rulesOf`. */
  readonly strict: boolean;
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
  #parts: readonly TablePart[] = [];
  #fields: readonly RestField[] = [];
  #shards: readonly Shard[] | undefined = undefined;
  #units: TimeUnits = new Map();
  /** Of all tables: one that is opened again has other parts than before at the same revision. */
  static #lastRevision = 0;
  #revision = 0;
  /** Names of attached files. */
  readonly #attached = new Map<string, string>();
  /** Relations that give rows in another form, by what they give. */
  readonly #views = new Map<string, string>();
  #nextView = 0;

  constructor(private readonly options: PartsOptions) {}

  get table(): StoredTable {
    return this.#tableOf(
      this.#parts.map(({ part }) => part),
      this.#revision,
    );
  }

  #tableOf(parts: readonly Part[], revision: number): StoredTable {
    return { schema: schemaOf(this.options.name, this.#fields, this.#units), parts, revision, shards: this.#shards };
  }

  /** Attaches files, so that they can be read. @throws what DuckDB throws where one is damaged or gone */
  async attach(segments: readonly Segment[]): Promise<void> {
    for (const segment of segments) await this.#attach(segment);
  }

  /**
   * Makes the parts anew.
   *
   * @param units of the fields' numbers
   * @param shards of the sources
   * @returns what to do when nobody reads the parts before any more
   */
  async rebuild(
    fields: readonly RestField[],
    units: TimeUnits,
    segments: SegmentsOfTable,
    hot: readonly HotRelation[],
    shards: readonly Shard[] | undefined,
  ): Promise<CleanUp> {
    await this.attach(segments.all);
    const parts = [
      ...segments.all.flatMap((segment) => this.#sealedParts(segment, segments, fields)),
      ...hot.map((relation) => this.#hotPart(relation, fields)),
    ];
    const used = new Set<string>();
    const all: TablePart[] = [];
    for (const one of parts) all.push({ ...one, part: { ...one.part, relation: await this.#view(one.rows, used) } });
    this.#fields = fields;
    this.#units = units;
    if (all.length === 0) all.push(this.#empty(fields));
    this.#parts = all;
    this.#shards = shards;
    this.#revision = ++TableParts.#lastRevision;
    return this.#unused(used, segments.all);
  }

  /** The table with those of its rows that arrived behind `after`, up to `upTo`; null: with all but those that arrived later. */
  arrived(after: number | null, upTo: number): StoredTable {
    const parts = this.#parts.flatMap(({ part, rows, arrived, before }): Part | [] => {
      if (after === null && (arrived === null || arrived[1] <= upTo)) return part;
      if (arrived === null || arrived[0] > upTo || arrived[1] <= (after ?? 0)) return [];
      const last = `${ARRIVAL_COLUMN} <= ${upTo - before}`;
      const own =
        after === null ? `(${ARRIVAL_COLUMN} IS NULL OR ${last})` : `${ARRIVAL_COLUMN} > ${after - before} AND ${last}`;
      return { ...part, relation: relationOf({ ...rows, same: false, where: [...rows.where, own] }) };
    });
    return this.#tableOf(parts.length > 0 ? parts : [this.#empty(this.#fields).part], 0);
  }

  #sealedParts(segment: Segment, segments: SegmentsOfTable, fields: readonly RestField[]): TablePart[] {
    if (segments.rowsOf(segment) === 0) return [];
    const alias = this.#attached.get(segment.file)!;
    const { odd, single, arrived, before } = segment;
    const dropped = segments.droppedOf(segment);
    const sources = Object.keys(segment.sources).map(Number);
    const bounds = boundsOf(segment);
    const partOf = (relation: string, rows: number, own: readonly string[]): TablePart => {
      const selection = selectionOf({ relation, fields: segment.fields, single: own, dropped }, fields);
      const part = { ...unknownPart(relation), rows, ...bounds, single: new Set(selection.isCast ? [] : own), sources };
      return { part, rows: selection, arrived, before };
    };
    const rows = partOf(`${alias}.rows`, segment.rows - odd, single);
    return odd === 0 ? [rows] : [rows, partOf(`${alias}.odd`, odd, [])];
  }

  #hotPart({ relation, fields, dropped, rows, first }: HotRelation, form: readonly RestField[]): TablePart {
    const { timed } = rulesOf(fields, this.options.strict);
    const part = { ...unknownPart(relation), rows, timedBy: timed ? 'timestamp' : null, grows: true };
    const selection = selectionOf({ relation, fields, single: [], dropped }, form);
    return { part, rows: selection, arrived: [first, Infinity], before: 0 };
  }

  #empty(fields: readonly RestField[]): TablePart {
    const columns = [...castColumns([], fields), `NULL AS ${SOURCE_COLUMN}`].join(', ');
    const rows = { columns, from: '(SELECT 1)', where: ['false'], same: false, isCast: true };
    const timedBy = timeColumnOf(fields, this.#units)?.name ?? null;
    return { part: { ...unknownPart(relationOf(rows)), timedBy }, rows, arrived: null, before: 0 };
  }

  /** Has no parts any more. */
  end(): CleanUp {
    return this.#unused(new Set(), []);
  }

  /** What was used by the parts before alone. */
  #unused(used: ReadonlySet<string>, segments: readonly Segment[]): CleanUp {
    const views = [...this.#views].filter(([, view]) => !used.has(view));
    for (const [what] of views) this.#views.delete(what);
    const files = new Set(segments.map(({ file }) => file));
    const detached = [...this.#attached].filter(([file]) => !files.has(file));
    for (const [file] of detached) this.#attached.delete(file);
    return async (connection) => {
      for (const [, view] of views) await connection.run(`DROP VIEW IF EXISTS ${view}`);
      for (const [, alias] of detached) await connection.run(`DETACH ${alias}`);
    };
  }

  async #attach({ file }: Segment): Promise<void> {
    if (this.#attached.has(file)) return;
    const { connection, folder, index } = this.options;
    const alias = quoteName(`segment ${index} ${file}`);
    await connection.run(`ATTACH ${quoteText(join(folder, file))} AS ${alias} (READ_ONLY)`);
    this.#attached.set(file, alias);
  }

  /** The relation, or a view of it. */
  async #view(selection: Selection, used: Set<string>): Promise<string> {
    const text = relationOf(selection);
    if (text === selection.from) return text;
    let view = this.#views.get(text);
    if (view === undefined) {
      view = quoteName(`view ${this.options.index} ${this.#nextView++}`);
      await this.options.connection.run(`CREATE VIEW ${view} AS FROM ${text}`);
      this.#views.set(text, view);
    }
    used.add(view);
    return view;
  }
}

/** SQL: rows of a relation, in the form that the table has now. */
interface Selection {
  readonly columns: string;
  readonly from: string;
  readonly where: readonly string[];
  /** Whether it is the relation itself. */
  readonly same: boolean;
  /** Whether the columns are others than those of the relation. */
  readonly isCast: boolean;
}

/** A part, and what it is made of. */
interface TablePart {
  readonly part: Part;
  readonly rows: Selection;
  /** First and last arrival of its rows; null: they have none. */
  readonly arrived: readonly [number, number] | null;
  /** What is to be added to an arrival in the relation. */
  readonly before: number;
}

/** The rows that count. */
function selectionOf({ relation, fields, single, dropped }: Stored, form: readonly RestField[]): Selection {
  const isCast = !sameFields(fields, form);
  const values = isCast ? castColumns(fields, form, new Set(single)) : fields.map(({ name }) => quoteName(name));
  const columns = [...values, SOURCE_COLUMN].join(', ');
  const where = dropped.length === 0 ? [] : [isNotOf(dropped)];
  return { columns, from: relation, where, isCast, same: !isCast && where.length === 0 };
}

function relationOf({ columns, from, where, same }: Selection): string {
  if (same) return from;
  return `(SELECT ${columns} FROM ${from}${where.length === 0 ? '' : ` WHERE ${where.join(' AND ')}`})`;
}

/** Of a sealed file, which has bounds where all its rows have a time. */
function boundsOf({ earliest, latest, time }: Segment): Pick<Part, 'earliest' | 'latest' | 'timedBy'> {
  if (earliest === null || latest === null || time === null) return { earliest: null, latest: null, timedBy: null };
  const [first, last] = [BigInt(earliest), BigInt(latest)];
  const isTimed = time.type === 'TIMESTAMP' && first >= FIRST_INSTANT && last <= LAST_INSTANT;
  return { earliest: first, latest: last, timedBy: isTimed ? time.name : null };
}
