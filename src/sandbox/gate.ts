/** The gate for consumer SQL: every wall in its order (docs/sandbox.md). A boundary between tenants; it fails closed. */
import type { Engine, RunLimits } from '../engines/contract';
import { QueryError, ServiceError } from '../errors';
import { isReserved } from '../googlesql/keywords';
import { unsupportedError } from '../googlesql/parser';
import { resolveQuery } from '../googlesql/resolver';
import type { Span } from '../googlesql/syntax';
import type { TableSchema } from '../googlesql/types';
import { turn } from '../googlesql/turn';
import { walk } from '../googlesql/walk';
import { compose } from './compose';
import { CteColumns, typicalValues } from './cte-columns';
import { maskStatement } from './masked';
import { readConsumerQuery, type Reading } from './policy';
import { OpinionTimeout, SecondOpinion } from './second-opinion';
import { readStatement, readTranslation, type Statement } from './statement';
import type { StoredQuery } from './stored-query';
import { Verdicts } from './verdicts';

/** A consumer query that every wall has let through, ready to run. */
export interface Admitted {
  /** The stored CTEs that it reaches and its own text, composed. */
  readonly sql: string;
  /** CTE tables that it reaches, as the stored query spells them. */
  readonly tables: readonly string[];
  /** Lower-case names of the parameters that `sql` holds: those to bind. */
  readonly parameters: ReadonlySet<string>;
  /** A place in `sql` as a place in the text that was sent; null outside of it. */
  original(span: Span): Span | null;
}

/** Milliseconds that judging one text may take, reading the CTE tables' columns included. */
const JUDGE_TIMEOUT = 30_000;

/**
 * What node-sql-parser takes for calls although GoogleSQL's grammar has it as syntax, beside reserved words, which
 * cannot name a function.
 */
const SYNTAX_CALLS = new Set(['offset', 'ordinal', 'safe_cast', 'safe_offset', 'safe_ordinal', 'sets']);

export class Gate {
  readonly #engine: Engine;
  readonly #columns: CteColumns;
  readonly #secondOpinion = new SecondOpinion();
  readonly #verdicts = new Verdicts<Admitted>();

  constructor(engine: Engine) {
    this.#engine = engine;
    this.#columns = new CteColumns(engine);
  }

  /**
   * Judges a text as a query over the CTE tables of `stored`: SQL that a consumer wrote, or that was made of their LQL.
   *
   * @throws QueryError with spans in `sent`; ServiceError `resourcesExceeded` when the second opinion runs out of time
   */
  admit(stored: StoredQuery, sent: string, { from = 'sql' }: { from?: 'sql' | 'lql' } = {}): Promise<Admitted> {
    const key = { endpointId: stored.id, revision: stored.revision, target: this.#engine.target, from, text: sent };
    const read = from === 'sql' ? readStatement : readTranslation;
    return this.#verdicts.of(key, () => this.#judge(stored, sent, read));
  }

  /** Gets ready what the first query would wait for. */
  prepare(): void {
    this.#secondOpinion.prepare();
  }

  /** The columns of one CTE table. @throws what `Engine.describe` throws */
  async columns(stored: StoredQuery, table: string, limits: RunLimits): Promise<TableSchema> {
    const [schema] = await this.#columns.of(stored, [table], limits);
    if (schema === undefined) throw new Error(`No columns of ${table}.`);
    return schema;
  }

  close(): Promise<void> {
    return this.#secondOpinion.close();
  }

  async #judge(stored: StoredQuery, sent: string, read: (sent: string) => Statement): Promise<Admitted> {
    const statement = read(sent);
    try {
      return await this.#passWalls(stored, statement);
    } catch (error) {
      if (!(error instanceof QueryError) || error.span === null) throw error;
      throw new QueryError(error.fault, error.message, statement.original(error.span), error.details);
    }
  }

  async #passWalls(stored: StoredQuery, statement: Statement): Promise<Admitted> {
    await turn(statement.text);
    const reading = readConsumerQuery(statement, stored);
    const [construct] = statement.unsupported;
    if (construct !== undefined) throw unsupportedError(construct);
    await this.#askSecondOpinion(stored, statement, reading);

    const limits = { deadline: performance.now() + JUDGE_TIMEOUT, signal: new AbortController().signal };
    const text = statement.text.slice(0, statement.end);
    await turn(statement.text);
    await this.#resolve(stored, statement, reading, limits);
    const tables = await this.#columns.of(stored, reading.tables, limits);
    await this.#engine.inspect(text, tables, typicalValues(stored), limits);

    const { sql, consumer, parameters, reached } = compose(stored, text, reading.tables);
    return {
      sql,
      tables: reached,
      parameters: new Set([...parameters, ...reading.parameters.map((name) => name.toLowerCase())]),
      original: ({ start, end }) =>
        start < consumer.start || end > consumer.end
          ? null
          : statement.original({ start: start - consumer.start, end: end - consumer.start }),
    };
  }

  /** Where the second parser reads the text, what it sees must be what ours saw (wall 3). */
  async #askSecondOpinion(stored: StoredQuery, statement: Statement, reading: Reading): Promise<void> {
    const masked = maskStatement(statement.text, statement.tokens);
    if (masked === null || joinsInParentheses(statement.query)) return;
    const opinion = await this.#secondOpinion.ask(masked).catch((error: unknown) => {
      if (!(error instanceof OpinionTimeout)) throw error;
      const message = 'The query is too complex to be checked in time. Nest it less deeply.';
      throw new ServiceError('resourcesExceeded', message, {}, { cause: error });
    });
    const unknown =
      opinion?.tables.find((name) => !reading.fromNames.has(name)) ??
      opinion?.functions.find((name) => !reading.functionNames.has(name) && !isSyntax(name));
    if (unknown === undefined) return;
    throw new QueryError(
      'sandboxViolation',
      `The query can also be read as using "${unknown}", which is not allowed. Write it more plainly.`,
      placeOf(unknown, statement),
      { allowed: stored.cteTables },
    );
  }

  /**
   * Names and types, from the CTE tables alone. An unknown field is looked for once more with columns read anew: the
   * table may have got it meanwhile.
   */
  async #resolve(stored: StoredQuery, statement: Statement, reading: Reading, limits: RunLimits): Promise<void> {
    try {
      resolveOver(await this.#columns.of(stored, reading.tables, limits), stored, statement);
    } catch (error) {
      const mayBeNew =
        this.#engine.kind === 'bigquery' && error instanceof QueryError && error.fault === 'unknownField';
      if (!mayBeNew) throw error;
      this.#columns.forget(stored);
      resolveOver(await this.#columns.of(stored, reading.tables, limits), stored, statement);
    }
  }
}

function resolveOver(tables: readonly TableSchema[], stored: StoredQuery, statement: Statement): void {
  const byName = new Map(tables.map((table) => [table.name.toLowerCase(), table]));
  resolveQuery(statement.query, statement.text, {
    findTable: (path) => (path.length === 1 ? byName.get(path[0]?.name.toLowerCase() ?? '') : undefined),
    parameters: new Map(stored.parameters.map(({ name, type }) => [name.toLowerCase(), { kind: type }])),
  });
}

/** Where a name that the second parser saw stands first; the whole statement where it is made of something else. */
function placeOf(name: string, { query, tokens }: Statement): Span {
  const last = name.slice(name.lastIndexOf('.') + 1);
  const token = tokens.find(({ kind, value }) => kind === 'identifier' && value.toLowerCase() === last);
  return token === undefined ? query.span : { start: token.start, end: token.end };
}

/** node-sql-parser reads no join in parentheses, in any form, but in a long text takes up its time to find out. */
function joinsInParentheses(query: Statement['query']): boolean {
  let found = false;
  walk(query, ({ kind }) => {
    found ||= kind === 'parenthesised_join';
    return !found;
  });
  return found;
}

function isSyntax(name: string): boolean {
  return SYNTAX_CALLS.has(name) || isReserved(name.toUpperCase());
}
