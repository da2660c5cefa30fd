import type { TableSchema } from '../../../packages/googlesql/src/face/types';
import { type Analysis, analyserOptions, readRefusal, type Refusal } from '../analyser';
import { type GoogleSqlEngine, UNAVAILABLE } from '../googlesql/engine';
import type { Message } from '../googlesql/protocol';
import { EngineRefusal } from '../googlesql/rpc';
import { type Resolved } from '../googlesql/tree';
import { type NamedType, type SqlType } from '../googlesql/types';
import { elements, fields, isNull, NULL, type Cell } from '../googlesql/values';
import { clockEdits } from '../sql/clock';
import { applyEdits, byteOffsets } from '../sql/edits';
import { unquotedPaths } from '../sql/paths';
import { olderForm } from '../sql/older-form';
import { substitute } from '../sql/substitutes';
import { tableEdits } from '../sql/tables';
import { isScript, tokensOf } from '../sql/tokens';
import { fullName, type Table, type Warehouse } from '../warehouse/warehouse';
import { SUFFIX, wildcardTables } from '../warehouse/wildcards';
import { billedBytes, readBytes } from './billing';
import { Catalogues, type DefaultDataset } from './catalogues';
import { BigQueryError, invalid, invalidQuery, notFound } from './error';
import { type Parameter } from './parameters';

export interface QueryRequest {
  readonly sql: string;
  readonly project: string;
  readonly defaultDataset: DefaultDataset | null;
  readonly parameters: readonly Parameter[];
  /** Bytes; null for no limit. */
  readonly maximumBytesBilled: bigint | null;
  readonly location: string;
}

/** What is known of a query before it runs. */
export interface Plan {
  readonly request: QueryRequest;
  /** `SELECT`, `INSERT`, `CREATE_TABLE`, ..., `SCRIPT`. */
  readonly statementType: string;
  readonly columns: readonly NamedType[];
  /** Each once, in the order first read; a view of INFORMATION_SCHEMA by its dotted name. */
  readonly tables: readonly { readonly project: string; readonly dataset: string; readonly id: string }[];
  readonly undeclared: readonly { readonly name: string; readonly type: SqlType }[];
  readonly bytesProcessed: number;
  readonly bytesBilled: number;
  /** The text that the engine evaluates; null for what it cannot. */
  readonly evaluated: string | null;
  readonly tree: Resolved | null;
  /** Tables of this query alone. */
  readonly wildcards: readonly Table[];
}

const UNIMPLEMENTED = 12;

/** Makes another text of the same result out of one whose tables are each one name, `` `project.dataset.table` ``. */
export type Rewrite = (sql: string, tables: readonly TableSchema[], parameters: readonly NamedType[]) => string;

/** Reads and runs queries over the warehouse. */
export class QueryRunner {
  private readonly catalogues: Catalogues;

  /** `clock` gives the value of CURRENT_TIMESTAMP, in microseconds; null leaves it to the engine. */
  constructor(
    private readonly engine: GoogleSqlEngine,
    private readonly warehouse: Warehouse,
    private readonly clock: () => bigint | null,
    /** Another text for what is evaluated; null: the engine's own order. */
    private readonly rewrite: Rewrite | null = null,
  ) {
    this.catalogues = new Catalogues(engine, warehouse);
  }

  /**
   * Resolves a query without running it. A dry run infers parameters that are not declared; otherwise they are refused.
   * Throws `BigQueryError` for whatever BigQuery would refuse.
   */
  async plan(request: QueryRequest, dryRun: boolean, signal?: AbortSignal): Promise<Plan> {
    if (request.sql.trim() === '') throw invalid('Required parameter is missing: query', 'query');
    const tokens = tokensOf(request.sql);
    if (isScript(tokens)) return scriptPlan(request);
    const wildcards = wildcardTables(tokens, this.warehouse, request.project, request.defaultDataset);
    const names = request.parameters.flatMap((p) => (p.name === null ? [] : [{ name: p.name, type: p.type }]));
    const written = unquotedPaths(request.sql, tokens, (path) => this.isTable(path, request.project));
    const findTable = (path: readonly string[]): TableSchema | undefined => this.tableOf(path, request, wildcards);
    const older = (refusal: string | null): string | null =>
      olderForm(written, { findTable, parameters: names, refusal });
    const positional = request.parameters.flatMap((p) => (p.name === null ? [p.type] : []));
    const options = { parameters: names, positional, inferParameters: dryRun, ...(signal && { signal }) };
    const analyse = (text: string): Promise<Analysis> =>
      this.catalogues.analyse(request.project, request.defaultDataset, wildcards, (a) => a.analyse(text, options));
    let standard = older(null);
    let analysis = await analyse(standard ?? written);
    if (!analysis.ok && standard === null) {
      standard = older(analysis.refusal.message);
      const again = standard === null ? analysis : await analyse(standard);
      if (again.ok) analysis = again;
      else standard = null;
    }
    if (!analysis.ok) {
      const place = standard === null ? {} : { line: null, column: null };
      throw this.refused({ ...analysis.refusal, ...place }, request);
    }
    const { tree } = analysis;
    const sql = standard ?? written;
    this.refuseOtherCase(sql, tree, request);
    const declared = new Set(names.map((p) => p.name.toLowerCase()));
    const columns = tree.statement === 'query' ? resultColumns(tree) : [];
    const bytesProcessed = readBytes([...this.warehouse.tables(), ...wildcards], tree.reads);
    const bytesBilled = billedBytes(bytesProcessed, new Set(tree.reads.map((read) => read.table)).size);
    const limit = request.maximumBytesBilled;
    if (!dryRun && limit !== null && BigInt(bytesBilled) > limit)
      throw new BigQueryError(
        'bytesBilledLimitExceeded',
        `Query exceeded limit for bytes billed: ${limit}. ${bytesBilled} or higher required.`,
      );
    return {
      request,
      statementType: tree.statement === 'query' ? 'SELECT' : tree.statement.toUpperCase(),
      columns,
      tables: [...new Set(tree.reads.map((read) => read.table))].map((name) => reference(name)),
      undeclared: [...tree.parameters].filter(([name]) => !declared.has(name)).map(([name, type]) => ({ name, type })),
      bytesProcessed,
      bytesBilled,
      evaluated:
        tree.statement === 'query' && !dryRun ? this.evaluatedText(sql, tree, request.parameters, wildcards) : null,
      tree,
      wildcards,
    };
  }

  /** The rows of a planned query. Throws `BigQueryError`; rejects with it too when `signal` gives the call up. */
  async rows(plan: Plan, signal: AbortSignal): Promise<Cell[][]> {
    const { evaluated, request, wildcards } = plan;
    if (evaluated === null)
      throw new BigQueryError('notImplemented', `The local BigQuery runs queries only, not ${plan.statementType}`);
    const parameters = request.parameters.map((p, i) => ({ ...p, name: p.name ?? positionalName(i) }));
    try {
      const reply = await this.catalogues.evaluate(wildcards, async (catalogue) =>
        this.engine.call(
          'EvaluateQuery',
          {
            sql: evaluated,
            options: await analyserOptions(this.engine, { parameters }),
            registered_catalog_id: await catalogue.reference(),
            params: parameters.map(({ name, value }) => ({ name, value })),
          },
          signal,
        ),
      );
      const rows = resultRows(reply, plan.tree);
      refuseNullElements(plan.columns, rows);
      return rows;
    } catch (error) {
      if (error instanceof EngineRefusal) throw evaluationError(error);
      throw error;
    }
  }

  private evaluatedText(
    sql: string,
    tree: Resolved,
    parameters: readonly Parameter[],
    wildcards: readonly Table[],
  ): string {
    const tokens = tokensOf(sql);
    const now = this.clock();
    const clock = now === null ? [] : clockEdits(tokens, new Set(tree.functions), now);
    // The engine evaluates with named parameters alone.
    const positions = tokens
      .filter((token) => token.kind === 'symbol' && token.text === '?')
      .map(({ start, end }, i) => ({ start, end, text: `@${positionalName(i)}` }));
    const named = applyEdits(sql, [...tableEdits(sql, tree.reads), ...clock, ...positions]);
    const types = parameters.map(({ name, type }, i) => ({ name: name ?? positionalName(i), type }));
    const tables = [...this.warehouse.tables(), ...wildcards].map(schemaOf);
    const text = this.rewrite === null ? named : this.rewrite(named, tables, types);
    return substitute(text);
  }

  private isTable(path: string, home: string): boolean {
    const parts = path.split('.');
    const [project = '', dataset = '', table = ''] = parts.length === 2 ? [home, ...parts] : parts;
    return this.warehouse.dataset(project, dataset)?.tables.has(table) ?? false;
  }

  /** A table by its path, for the service's own GoogleSQL; its name is one that the engine knows. */
  private tableOf(
    path: readonly string[],
    { project: home, defaultDataset }: QueryRequest,
    wildcards: readonly Table[],
  ): TableSchema | undefined {
    const parts = path.flatMap((part) => part.split('.'));
    const [id = '', dataset = defaultDataset?.dataset ?? '', project] = parts.toReversed();
    const standard = parts.length === 1 ? defaultDataset?.project : undefined;
    const place = project ?? standard ?? home;
    const wildcard = wildcards.find((one) => one.id === id && one.dataset === dataset && one.project === place);
    const table = wildcard ?? this.warehouse.dataset(place, dataset)?.tables.get(id);
    return table === undefined ? undefined : schemaOf(table);
  }

  /** Names of tables and data sets are exact in BigQuery; the engine ignores their case. */
  private refuseOtherCase(sql: string, tree: Resolved, request: QueryRequest): void {
    const offset = byteOffsets(sql);
    for (const { table, range } of tree.reads) {
      if (range === null || table.includes('.INFORMATION_SCHEMA.')) continue;
      const written = sql.slice(offset(range.start), offset(range.end)).replace(/[`\s]/g, '');
      if (!`.${table}`.endsWith(`.${written}`) && `.${table}`.toLowerCase().endsWith(`.${written.toLowerCase()}`))
        throw this.refused(
          { message: `Table not found: ${written}`, line: null, column: null, syntax: false },
          request,
        );
    }
  }

  private refused(refusal: Refusal, request: QueryRequest): BigQueryError {
    const { message, line, column } = refusal;
    const at = line === null ? '' : ` at [${line}:${column}]`;
    if (/^Function not found: (?:st|s2)_/i.test(message))
      throw new BigQueryError('notImplemented', 'The local BigQuery has no GEOGRAPHY functions');
    const table = /^Table not found: ([^;]+)/.exec(message)?.[1];
    if (table === undefined) return invalidQuery(`${message}${at}`);
    const parts = table.replaceAll('`', '').split('.');
    if (parts.length === 1 && request.defaultDataset === null)
      return invalid(`Table "${parts[0]}" must be qualified with a dataset (e.g. dataset.table).`, parts[0]);
    const standard = request.defaultDataset;
    const [
      id = '',
      dataset = standard?.dataset ?? '',
      project = parts.length === 1 ? (standard?.project ?? '') : request.project,
    ] = parts.slice(-3).reverse();
    const place = `was not found in location ${request.location}${at}`;
    return this.warehouse.dataset(project, dataset) === null
      ? notFound(`Dataset ${project}:${dataset} ${place}`)
      : notFound(`Table ${project}:${dataset}.${id} ${place}`);
  }
}

/** A table of the warehouse by the full name that the engine reports. */
export function reference(name: string): Pick<Table, 'project' | 'dataset' | 'id'> {
  const [project = '', dataset = '', ...id] = name.split('.');
  return { project, dataset, id: id.join('.') };
}

function schemaOf(table: Table): TableSchema {
  const columns = table.columns.filter((column) => column !== SUFFIX);
  return { name: fullName(table), columns, pseudo: columns.length < table.columns.length ? [SUFFIX] : [] };
}

function positionalName(index: number): string {
  return `local__${index}`;
}

function scriptPlan(request: QueryRequest): Plan {
  return {
    request,
    statementType: 'SCRIPT',
    columns: [],
    tables: [],
    undeclared: [],
    bytesProcessed: 0,
    bytesBilled: 0,
    evaluated: null,
    tree: null,
    wildcards: [],
  };
}

/** Columns as BigQuery names them: `f0_`, `f1_`, ... for those without a name. Two of one name are refused. */
function resultColumns(tree: Resolved): NamedType[] {
  let unnamed = 0;
  const only = tree.columns[0];
  const columns =
    tree.isValueTable && only?.type.kind === 'STRUCT'
      ? only.type.fields.map((field) => ({ name: field.name ?? '', type: field.type }))
      : tree.columns;
  const named = columns.map(({ name, type }) => ({
    name: name === '' || name.startsWith('$') ? `f${unnamed++}_` : name,
    type,
  }));
  const seen = new Set<string>();
  for (const { name } of named) {
    if (seen.has(name.toLowerCase()))
      throw invalidQuery(`Duplicate column names in the result are not supported. Found duplicate(s): ${name}`);
    seen.add(name.toLowerCase());
  }
  return named;
}

function resultRows(reply: Message, tree: Resolved | null): Cell[][] {
  const data = (reply['content'] as Message | undefined)?.['table_data'] as Message | undefined;
  const rows = ((data?.['row'] ?? []) as Message[]).map((row) => (row['cell'] ?? []) as Cell[]);
  const only = tree?.columns[0]?.type;
  if (tree?.isValueTable !== true || only?.kind !== 'STRUCT') return rows;
  return rows.map(([value = NULL]) => (isNull(value) ? only.fields.map(() => NULL) : [...fields(value)]));
}

/** An array with a NULL in it exists while a query runs and cannot be its result. */
function refuseNullElements(columns: readonly NamedType[], rows: readonly Cell[][]): void {
  columns.forEach(({ name, type }, i) => {
    if (rows.some((row) => hasNullElement(type, row[i] ?? NULL)))
      throw invalidQuery(`Array cannot have a null element; error in writing field ${name}`);
  });
}

function hasNullElement(type: SqlType, cell: Cell): boolean {
  if (type.kind === 'ARRAY') return elements(cell).some((item) => isNull(item) || hasNullElement(type.element, item));
  if (type.kind !== 'STRUCT') return false;
  const items = fields(cell);
  return type.fields.some((field, i) => hasNullElement(field.type, items[i] ?? NULL));
}

function evaluationError(error: EngineRefusal): BigQueryError {
  if (error.code === UNIMPLEMENTED || /^(?:User-defined|The local BigQuery) /.test(error.message))
    return new BigQueryError(
      'notImplemented',
      `The local BigQuery cannot evaluate this: ${error.message.split('\n', 1)[0]}`,
    );
  if (error.code === UNAVAILABLE) return new BigQueryError('backendError', 'The engine ended while it ran the query');
  const { message, line, column } = readRefusal(error.message);
  return invalidQuery(line === null ? message : `${message} at [${line}:${column}]`);
}
