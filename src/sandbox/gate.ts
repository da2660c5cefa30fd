/** The gate for consumer SQL: every wall in its order (docs/sandbox.md). A boundary between tenants; it fails closed. */
import type { Engine, RunLimits } from '@logquay/duckdb-engine/contract';
import { raceLimits, type FairSlots, isShort, Threads } from '@logquay/duckdb-engine/concurrency';
import { QueryError, ServiceError } from '../errors';
import { isReserved, lex, TRANSLATED_BOUNDS, type Span } from '@logquay/googlesql/syntax';
import type { TableSchema } from '@logquay/googlesql/types';
import { compose } from './compose';
import { CteColumns, typicalValues } from './cte-columns';
import { composeFence, type Fence, fenceOf, storedCanFail } from './fence';
import { originalSpan } from '@logquay/googlesql/consumer';
import { checkMeaning, inSentText, type Meaning, readText, type ReadText, type SentText } from './reading';
import { OpinionTimeout, SecondOpinion } from './second-opinion';
import type { StoredQuery } from './stored-query';
import { Verdicts } from './verdicts';

/** A consumer query that every wall has let through, ready to run. */
export interface Admitted {
  /** The stored CTEs that it reaches and its own text, composed; or the fenced form of both. */
  readonly sql: string;
  /** Its own text in `sql`; null where that is the fenced form. */
  readonly consumer: Span | null;
  /** Whether it fixes the order of its rows. */
  readonly ordered: boolean;
  /** CTE tables that it reaches, as the stored query spells them. */
  readonly tables: readonly string[];
  /** Lower-case names of the parameters that `sql` holds: those to bind. */
  readonly parameters: ReadonlySet<string>;
  /**
   * The one place, in the text that was sent, where the query can fail on a value while it runs; null: nowhere, or at several.
   * Which of several fails first depends on the order of evaluation.
   */
  readonly onlyFault: Span | null;
  /** How many pieces of text `original` goes by. */
  readonly pieces: number;
  /** A place in `sql` as a place in the text that was sent; null outside of it, and everywhere in a fenced form. */
  readonly original: (span: Span) => Span | null;
}

/** Who sends a text. */
export interface Sender extends Pick<SentText, 'from'> {
  /**
   * The sender must learn nothing of rows that the stored query leaves out (docs/decisions/fence.md). The embedded engine
   * sees to that itself.
   */
  readonly fenced: boolean;
}

/** Milliseconds that checking one text may take, reading the CTE tables' columns included. */
const CHECK_TIMEOUT = 30_000;

/**
 * What node-sql-parser takes for calls although GoogleSQL's grammar has it as syntax, beside reserved words, which
 * cannot name a function.
 */
const SYNTAX_CALLS = new Set(['offset', 'ordinal', 'safe_cast', 'safe_offset', 'safe_ordinal', 'sets']);

export class Gate {
  readonly #engine: Engine;
  readonly #columns: CteColumns;
  readonly #threads: Threads;
  readonly #secondOpinion = new SecondOpinion();
  readonly #verdicts = new Verdicts<Admitted>();

  /**
   * @param threads closed with the gate
   * @param slots for queries on an engine of this machine: a long text is checked in a slot of its key, which so does not read,
   *   plan and run at the same time, nor more texts than it may run queries; null: it is checked at once
   */
  constructor(
    engine: Engine,
    threads = new Threads(),
    private readonly slots: Pick<FairSlots, 'use'> | null = null,
  ) {
    this.#engine = engine;
    this.#threads = threads;
    this.#columns = new CteColumns(engine);
  }

  /**
   * Checks a text as a query over the CTE tables of `stored`: SQL that a consumer wrote, or that was made of their LQL.
   *
   * @throws QueryError with spans in `sent`; ServiceError `resourcesExceeded` when the second opinion runs out of time,
   *   `tooManyConcurrentQueries` when too many texts of the key wait, `deadlineExceeded`; the signal's reason
   */
  admit(
    stored: StoredQuery,
    sent: string,
    { from = 'sql', fenced = false, limits = checkLimits('') }: Partial<Sender> & { readonly limits?: RunLimits } = {},
  ): Promise<Admitted> {
    const { keyName = '' } = limits;
    const { id: endpointId, revision } = stored;
    const sender = { from, fenced: fenced && this.#engine.kind === 'bigquery' };
    const key = { endpointId, revision, target: this.#engine.target, ...sender, text: sent };
    // Others of the key may wait for the same verdict: the check has limits of its own.
    const check = (): Promise<Admitted> => {
      const own = checkLimits(keyName);
      const work = (): Promise<Admitted> => this.#check(stored, sent, sender, own);
      return this.slots === null || isShort(sent) ? work() : this.slots.use(keyName, own, work, true);
    };
    return raceLimits(
      limits,
      () => this.#verdicts.of(key, keyName, check),
      () => undefined,
    );
  }

  /** The columns of one CTE table. @throws what `Engine.describe` throws */
  async columns(stored: StoredQuery, table: string, limits: RunLimits): Promise<TableSchema> {
    const [schema] = await this.#columns.of(stored, [table], limits);
    if (schema === undefined) throw new Error(`No columns of ${table}.`);
    return schema;
  }

  async close(): Promise<void> {
    await Promise.all([this.#secondOpinion.close(), this.#threads.close()]);
  }

  async #check(stored: StoredQuery, sent: string, { from, fenced }: Sender, limits: RunLimits): Promise<Admitted> {
    this.#engine.admits?.(limits.keyName ?? '');
    const { cteTables } = stored;
    const parameters = stored.parameters.map(({ name, type }) => ({ name, type }));
    const read = await this.#threads.do(readText, { text: sent, from, cteTables, parameters }, sent, limits);
    try {
      return await this.#passOtherWalls(stored, read, fenced, limits);
    } catch (error) {
      throw error instanceof QueryError ? inSentText(error, read.passes) : error;
    }
  }

  async #passOtherWalls(stored: StoredQuery, read: ReadText, fenced: boolean, limits: RunLimits): Promise<Admitted> {
    await this.#askSecondOpinion(stored, read, limits);
    const fence = fenced ? fenceOf(stored, read.tables) : null;
    const { printed, onlyFault } = await this.#checkMeaning(stored, read, fence, limits);
    const tables = await this.#columns.of(stored, read.tables, limits);
    await this.#engine.inspect(read.statement, tables, typicalValues(stored), limits);

    const fault = {
      onlyFault: onlyFault === null || storedCanFail(stored, read.tables) ? null : originalSpan(read.passes, onlyFault),
    };
    if (printed !== null) {
      const { sql, parameters, reached } = composeFence(stored, printed, read.tables);
      const named = new Set([...parameters, ...printed.parameters]);
      const { ordered } = read;
      return {
        sql,
        consumer: null,
        ordered,
        tables: reached,
        parameters: named,
        ...fault,
        pieces: 0,
        original: () => null,
      };
    }
    const { sql, consumer, parameters, reached } = compose(stored, read.statement, read.tables);
    // Verdicts are kept: nothing else of what was read may be.
    const { passes } = read;
    return {
      sql,
      consumer,
      ordered: read.ordered,
      tables: reached,
      parameters: new Set([...parameters, ...read.parameters.map((name) => name.toLowerCase())]),
      ...fault,
      pieces: passes.reduce((sum, pieces) => sum + pieces.length, 0),
      original: ({ start, end }) =>
        start < consumer.start || end > consumer.end
          ? null
          : originalSpan(passes, { start: start - consumer.start, end: end - consumer.start }),
    };
  }

  /** Where the second parser reads the text, what it sees must be what ours saw (wall 3). */
  async #askSecondOpinion(stored: StoredQuery, read: ReadText, limits: RunLimits): Promise<void> {
    if (read.masked === null) return;
    const opinion = await this.#secondOpinion.ask(read.masked, limits).catch((error: unknown) => {
      if (!(error instanceof OpinionTimeout)) throw error;
      const message = 'The query is too complex to be checked in time. Nest it less deeply.';
      throw new ServiceError('resourcesExceeded', message, {}, { cause: error });
    });
    const unknown =
      opinion?.tables.find((name) => !read.fromNames.has(name)) ??
      opinion?.functions.find((name) => !read.functionNames.has(name) && !isSyntax(name));
    if (unknown === undefined) return;
    throw new QueryError(
      'sandboxViolation',
      `The query can also be read as using "${unknown}", which is not allowed. Write it more plainly.`,
      placeOf(unknown, read),
      { allowed: stored.cteTables },
    );
  }

  /**
   * Names and types, then the fenced form where there has to be one. An unknown field is looked for once more with
   * columns read anew: the table may have got it meanwhile.
   */
  async #checkMeaning(stored: StoredQuery, read: ReadText, fence: Fence | null, limits: RunLimits): Promise<Meaning> {
    const { statement, query } = read;
    const parameters = stored.parameters.map(({ name, type }) => ({ name, type }));
    const check = async (): Promise<Meaning> => {
      const tables = await this.#columns.of(stored, read.tables, limits);
      return this.#threads.do(checkMeaning, { statement, query, tables, parameters, fence }, statement, limits);
    };
    try {
      return await check();
    } catch (error) {
      const mayBeNew =
        this.#engine.kind === 'bigquery' && error instanceof QueryError && error.fault === 'unknownField';
      if (!mayBeNew) throw error;
      this.#columns.forget(stored);
      return check();
    }
  }
}

function checkLimits(keyName: string): RunLimits {
  return { deadline: performance.now() + CHECK_TIMEOUT, signal: new AbortController().signal, keyName };
}

/** Where a name that the second parser saw stands first; the whole statement where it is made of something else. */
function placeOf(name: string, { statement, query }: ReadText): Span {
  const last = name.slice(name.lastIndexOf('.') + 1);
  const token = lex(statement, TRANSLATED_BOUNDS).find(
    ({ kind, value }) => kind === 'identifier' && value.toLowerCase() === last,
  );
  return token === undefined ? query.span : { start: token.start, end: token.end };
}

function isSyntax(name: string): boolean {
  return SYNTAX_CALLS.has(name) || isReserved(name.toUpperCase());
}
