/** A DuckDB with the fixture's tables in it, and queries in GoogleSQL run on it through the translation alone. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection, type DuckDBResultReader } from '@duckdb/node-api';
import { LRUCache } from 'lru-cache';
import { type Fence, textsOf } from '../src/contract/contract';
import { withBrackets } from '../src/engine/list-brackets';
import { setUp } from '../src/engine/set-up';
import {
  CLOCK_PARAMETER,
  formOf,
  instantOf,
  type ParameterForm,
  type Statement,
  textParameterOf,
  translate,
  withKnownParameters,
} from '../src/translate';
import type { Part } from '../src/data/part';
import { jsonType, storedValue } from '../src/data/field-sql';
import { SHAPES, type Shape } from './duckdb-shapes';
import { quoteName, quoteText } from '../src/sql';
import { parseQuery } from '../../googlesql/src/parser';
import type { ResolvedQuery } from '../../googlesql/src/resolved';
import { resolveQuery } from '../../googlesql/src/resolver';
import { columnsOf, parseRestSchema } from '../../googlesql/src/rest-schema';
import type { NamedType, TableSchema } from '../../googlesql/src/types';

const FIXTURE = join(__dirname, '../../../test/fixture');

/** The clock of all tests: an hour after the newest row of the fixture. */
export const NOW = Date.UTC(2026, 8, 30, 13) * 1000;

export interface Answer {
  readonly columns: readonly NamedType[];
  readonly rows: readonly unknown[];
  /** The texts as DuckDB wrote them. */
  readonly texts: readonly string[];
  readonly sql: string;
}

/** Texts as they were resolved last, over the tables of a folder: the same ones are translated over rows of several shapes. */
const RESOLVED = new LRUCache<string, ResolvedQuery>({ max: 100 });

export class TranslationBench {
  private constructor(
    private readonly folder: string,
    private readonly instance: DuckDBInstance,
    readonly connection: DuckDBConnection,
    private readonly tables: ReadonlyMap<string, TableSchema>,
    private readonly parts: ReadonlyMap<string, readonly Part[]>,
  ) {}

  /** @param folder with `schema.json` and a file of rows for each of its tables */
  static async open(shape: Shape = 'lists', folder = FIXTURE): Promise<TranslationBench> {
    const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
    const connection = await instance.connect();
    await setUp(connection);
    const schema = JSON.parse(readFileSync(join(folder, 'schema.json'), 'utf8')) as Record<string, { fields: unknown }>;
    const tables = new Map<string, TableSchema>();
    const parts = new Map<string, readonly Part[]>();
    for (const [name, table] of Object.entries(schema)) {
      const fields = parseRestSchema(table, name);
      const columns = columnsOf(fields);
      const types = fields.map((f) => `${quoteText(f.name)}: ${quoteText(jsonType(f))}`).join(', ');
      const values = fields.map((f) => `${storedValue(f, quoteName(f.name), 'base64')} AS ${quoteName(f.name)}`);
      const file = quoteText(join(folder, `${name}.ndjson`));
      await connection.run(
        `CREATE TABLE ${quoteName(name)} AS SELECT ${values.join(', ')} FROM read_json(${file}, columns = {${types}})`,
      );
      tables.set(name, { name, columns });
      parts.set(name, await SHAPES[shape](connection, name, fields));
    }
    return new TranslationBench(folder, instance, connection, tables, parts);
  }

  translate(
    sql: string,
    parameters: Readonly<Record<string, string>> = {},
    maxRows: number | null = null,
    fence: Fence | null = null,
    forms: ReadonlyMap<string, ParameterForm> = new Map(),
  ) {
    return translate(withKnownParameters(this.#resolved(sql, Object.keys(parameters)), forms), {
      parts: ({ name }) => this.parts.get(name)!,
      hideBytes: false,
      maxRows,
      fence,
    });
  }

  #resolved(sql: string, parameters: readonly string[]): ResolvedQuery {
    const key = JSON.stringify([this.folder, parameters, sql]);
    let query = RESOLVED.get(key);
    if (query === undefined) {
      query = resolveQuery(parseQuery(sql), sql, {
        findTable: (path) => this.tables.get(path.map((p) => p.name).join('.')),
        parameters: new Map(parameters.map((name) => [name, { kind: 'STRING' }])),
      });
      RESOLVED.set(key, query);
    }
    return query;
  }

  /** @param known what the values of parameters rule out is left out, as the service does; otherwise any values would do */
  async run(
    sql: string,
    parameters: Readonly<Record<string, string>> = {},
    maxRows: number | null = null,
    fence: Fence | null = null,
    known = false,
  ): Promise<Answer> {
    const translation = this.translate(sql, parameters, maxRows, fence, known ? formsOf(parameters) : new Map());
    const valueOf = (name: string): string | bigint | null => {
      if (name === CLOCK_PARAMETER) return BigInt(NOW);
      const text = textParameterOf(name);
      return text === null ? parameters[name]! : instantOf(parameters[text]!);
    };
    const result = (statement: Statement): Promise<DuckDBResultReader> => {
      const values = statement.parameters.map(valueOf);
      // With values a statement is prepared first.
      return this.connection.runAndReadAll(statement.sql, values.length === 0 ? undefined : values);
    };
    const { before, brackets } = translation;
    const inTransaction = async (): Promise<DuckDBResultReader> => {
      await this.connection.run('BEGIN TRANSACTION');
      try {
        for (const table of before) await result(table);
        return await result(translation);
      } finally {
        await this.connection.run('ROLLBACK');
      }
    };
    const reader = await (before.length === 0 ? result(translation) : inTransaction());
    const written = reader.getRows().map((row) => String(row[0]));
    const lines = Buffer.from(written.join(''));
    const texts = textsOf({
      parts: [brackets === null ? lines : withBrackets(lines, brackets)],
      count: written.length,
    });
    return {
      columns: translation.columns,
      rows: texts.map((t) => JSON.parse(t) as unknown),
      texts,
      sql: translation.sql,
    };
  }

  /** One expression without a table; its value as JSON. */
  async value(expression: string): Promise<unknown> {
    const { rows } = await this.run(`SELECT ${expression} AS value`);
    return (rows[0] as { value: unknown }).value;
  }

  close(): void {
    this.connection.closeSync();
    this.instance.closeSync();
  }
}

function formsOf(parameters: Readonly<Record<string, string>>): ReadonlyMap<string, ParameterForm> {
  return new Map(
    Object.entries(parameters).flatMap(([name, value]) => {
      const form = formOf({ name, type: 'STRING', value });
      return form === null ? [] : ([[name, form]] as const);
    }),
  );
}
