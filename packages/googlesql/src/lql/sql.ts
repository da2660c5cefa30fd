import { quoteName, textLiteral, type TimeColumn, valueLiteral } from './operand';
import { LqlError } from './lql-error';
import type { Span, Aggregate, Chart, Filter, Rules, Select, Value } from './rules';
import type { NamedType } from '../types';
import { isoText } from '../time/calendar';
import { checkTypes } from './type-faults';

/** Most arrays that one query unfolds: far more than any question needs, and a bound on the SQL that comes of it. */
const MAX_ARRAYS = 200;

/** A path with its place in the LQL text. */
export interface PathUse {
  readonly path: string;
  readonly pathSpan: Span;
}

interface Join {
  readonly alias: string;
  readonly array: string;
  readonly inner: boolean;
  readonly span: Span;
}

/**
 * The chains of UNNEST joins behind dotted paths: every segment but the last is an array of records, and paths with a
 * common prefix share its element. Filters and charts must be referred to before selections, so that a prefix that
 * only a selection uses is joined LEFT and loses no rows.
 */
export class Joins {
  private readonly joins = new Map<string, Join>();

  /** `root` is the alias of the table itself. */
  constructor(private readonly root: string) {}

  /** SQL for the field at the end of `path`. */
  field({ path, pathSpan }: PathUse, use: 'filter' | 'select'): string {
    const segments = path.split('.');
    const leaf = segments.pop() ?? path;
    let owner = this.root;
    let prefix = '';
    for (const segment of segments) {
      // Columns ignore case in BigQuery, so two spellings are one array.
      prefix += `${segment.toLowerCase()}.`;
      owner = (this.joins.get(prefix) ?? this.join(prefix, `${owner}.${quoteName(segment)}`, use, pathSpan)).alias;
    }
    return `${owner}.${quoteName(leaf)}`;
  }

  private join(prefix: string, array: string, use: 'filter' | 'select', span: Span): Join {
    if (this.joins.size === MAX_ARRAYS) {
      throw new LqlError('too_many_arrays', `the paths go through more than ${MAX_ARRAYS} arrays`, span);
    }
    const join = { alias: `u${this.joins.size + 1}`, array, inner: use === 'filter', span };
    this.joins.set(prefix, join);
    return join;
  }

  write(sql: SqlText): void {
    for (const { alias, array, inner, span } of this.joins.values()) {
      sql.add(` ${inner ? 'INNER' : 'LEFT'} JOIN UNNEST(`, span).add(`${array}) AS ${alias} ON TRUE`, span);
    }
  }
}

/** The name of a selected field in the result: alias, else the path with underscores for dots. */
export function columnName(select: Select): string {
  return select.alias ?? select.path.replaceAll('.', '_');
}

/** What the query returns beside a chart; null: every column of the table (no `s:`, or `s:*` among them). */
export function selectedFields(rules: Rules): readonly Select[] | null {
  return rules.select.length === 0 || rules.select.some((select) => select.wildcard) ? null : rules.select;
}

/** Result columns are distinguished without case (docs/http.md). A chart ignores what is selected. */
export function checkColumns(rules: Rules): void {
  if (rules.chart !== null) return;
  const taken = new Set<string>();
  for (const select of selectedFields(rules) ?? []) {
    const name = columnName(select);
    if (taken.has(name.toLowerCase())) {
      throw new LqlError('duplicate_column', `two selected fields are named ${name}`, select.span, {
        hint: 'Give one of them another name with s:path@name.',
      });
    }
    taken.add(name.toLowerCase());
  }
}

/** Generated SQL that knows which part of the LQL text each of its parts comes from. */
export interface MappedSql {
  readonly sql: string;
  /** The part of the LQL text behind an offset of the SQL; null where nothing was written for it. */
  readonly origin: (offset: number) => Span | null;
}

/** Collects pieces of SQL in order. */
export class SqlText {
  private readonly pieces: { readonly end: number; readonly span: Span | null }[] = [];
  private text = '';

  add(text: string, span: Span | null = null): this {
    this.text += text;
    this.pieces.push({ end: this.text.length, span });
    return this;
  }

  finish(): MappedSql {
    const { text, pieces } = this;
    return { sql: text, origin: (offset) => pieces.find(({ end }) => offset < end)?.span ?? null };
  }
}

export interface CteTable {
  readonly name: string;
  /** null where they are not known: the table is then taken to have a TIMESTAMP `timestamp`. */
  readonly columns: readonly NamedType[] | null;
}

/** What no SQL can be ordered by. */
const UNORDERED = ['ARRAY', 'STRUCT', 'JSON', 'GEOGRAPHY'];

/**
 * BigQuery SQL for the rules, over the CTE table `table`. Row queries are newest first where the table has a
 * `timestamp` to order by; charts have `timestamp` (the start of the bucket) and `count`, oldest first.
 */
export function toSql(rules: Rules, table: CteTable): MappedSql {
  if (table.columns !== null) checkTypes(rules, table.columns);
  const alias = tableAlias(rules, table);
  const time = timeColumn(table);
  const joins = new Joins(alias);
  const filters = rules.filters.map((filter) => ({ filter, field: joins.field(filter, 'filter') }));
  const sql = new SqlText().add('SELECT ');
  if (rules.chart !== null) {
    writeChartColumns(sql, rules.chart, joins.field(rules.chart, 'filter'), alias, time);
  } else {
    writeColumns(sql, selectedFields(rules), joins, alias);
  }
  sql.add(` FROM ${quoteName(table.name)} AS ${alias}`, rules.fromSpan);
  joins.write(sql);
  filters.forEach(({ filter, field }, i) => {
    sql.add(i === 0 ? ' WHERE ' : ' AND ');
    writeFilter(sql, filter, field, time);
  });
  if (rules.chart !== null) sql.add(' GROUP BY 1 ORDER BY 1');
  else if (time !== 'none') sql.add(` ORDER BY ${alias}.\`timestamp\` DESC`);
  return sql.finish();
}

/** `t`, unless a result column has that name: ORDER BY would take `t` for the column. */
function tableAlias(rules: Rules, table: CteTable): string {
  const columns = selectedFields(rules)?.map(columnName) ?? table.columns?.map(({ name }) => name) ?? [];
  const taken = new Set(columns.map((name) => name.toLowerCase()));
  let alias = 't';
  for (let n = 1; taken.has(alias); n++) alias = `t${n}`;
  return alias;
}

function timeColumn({ columns }: CteTable): TimeColumn {
  if (columns === null) return 'unknown';
  const type = columns.find(({ name }) => name.toLowerCase() === 'timestamp')?.type;
  if (type === undefined || UNORDERED.includes(type.kind)) return 'none';
  return type.kind === 'TIMESTAMP' || type.kind === 'DATETIME' ? type.kind : 'other';
}

function writeColumns(sql: SqlText, fields: readonly Select[] | null, joins: Joins, alias: string): void {
  if (fields === null) {
    sql.add(`${alias}.*`);
    return;
  }
  fields.forEach((select, i) => {
    if (i > 0) sql.add(', ');
    sql.add(joins.field(select, 'select'), select.pathSpan);
    if (columnName(select) !== select.path || select.alias !== null) {
      sql.add(` AS ${quoteName(columnName(select))}`, select.span);
    }
  });
}

function writeChartColumns(sql: SqlText, chart: Chart, field: string, alias: string, time: TimeColumn): void {
  const truncate = time === 'DATETIME' ? 'DATETIME_TRUNC' : 'TIMESTAMP_TRUNC';
  sql
    .add(`${truncate}(${alias}.\`timestamp\`, ${chart.period.toUpperCase()}) AS \`timestamp\`, `, chart.span)
    .add(`${aggregateCall(chart.aggregate, field)} AS \`count\``, chart.pathSpan);
}

function aggregateCall(aggregate: Aggregate, field: string): string {
  switch (aggregate) {
    case 'count':
      return `COUNT(${field})`;
    case 'countd':
      return `COUNT(DISTINCT ${field})`;
    case 'avg':
      return `AVG(${field})`;
    case 'sum':
      return `SUM(${field})`;
    case 'max':
      return `MAX(${field})`;
    case 'p50':
    case 'p95':
    case 'p99':
      return `APPROX_QUANTILES(${field}, 100)[OFFSET(${aggregate.slice(1)})]`;
  }
}

/** A negated filter keeps rows without the field, except that "not NULL" is plain. */
function writeFilter(sql: SqlText, filter: Filter, field: string, time: TimeColumn): void {
  if (filter.operator === '=' && filter.value === null) {
    sql.add(field, filter.pathSpan).add(filter.negate ? ' IS NOT NULL' : ' IS NULL', filter.span);
    return;
  }
  if (filter.negate) sql.add('(').add(field, filter.pathSpan).add(' IS NULL OR NOT (', filter.span);
  writeTest(sql, filter, field, time);
  if (filter.negate) sql.add('))', filter.span);
}

function writeTest(sql: SqlText, filter: Filter, field: string, time: TimeColumn): void {
  const { span, pathSpan } = filter;
  switch (filter.operator) {
    case 'contains':
      sql
        .add('STRPOS(', span)
        .add(field, pathSpan)
        .add(`, ${textLiteral(filter.value)}) > 0`, span);
      break;
    case '~':
      sql
        .add('REGEXP_CONTAINS(', span)
        .add(field, pathSpan)
        .add(`, ${textLiteral(filter.value)})`, span);
      break;
    case 'list_includes':
      sql
        .add(`${valueLiteral(filter.value, time)} IN UNNEST(`, span)
        .add(field, pathSpan)
        .add(')', span);
      break;
    case 'list_includes_regex':
      sql.add('EXISTS (SELECT 1 FROM UNNEST(', span).add(field, pathSpan);
      sql.add(`) AS e WHERE REGEXP_CONTAINS(e, ${textLiteral(filter.value)}))`, span);
      break;
    case 'range': {
      const [from, to] = filter.values.map((value) => valueLiteral(value, time)) as [string, string];
      sql.add(field, pathSpan).add(` BETWEEN ${from} AND ${to}`, span);
      break;
    }
    case 'in':
      sql.add(field, pathSpan).add(` IN (${filter.values.map(textLiteral).join(', ')})`, span);
      break;
    default:
      sql.add(field, pathSpan).add(` ${filter.operator} ${valueLiteral(filter.value, time)}`, span);
  }
}

const EXACT = 2n ** 53n;

/**
 * Rules as a plain object for JSON: timestamps as ISO text in UTC, an INT64 beyond 2^53 as `{"int64":"..."}`, only the
 * modifiers that are set, and no positions.
 */
export function rulesToJson(rules: Rules): object {
  return {
    from: rules.from,
    select: rules.select.map(({ path, alias, wildcard }) => ({ path, alias, wildcard })),
    filters: rules.filters.map(filterToJson),
    chart: rules.chart && { aggregate: rules.chart.aggregate, path: rules.chart.path, period: rules.chart.period },
  };
}

function filterToJson(filter: Filter): object {
  const { path, operator, negate, quoted, origin, shorthand } = filter;
  return {
    path,
    operator,
    ...('values' in filter ? { values: filter.values.map(valueToJson) } : { value: valueToJson(filter.value) }),
    modifiers: { ...(negate && { negate }), ...(quoted && { quoted }), ...(origin !== null && { origin }) },
    ...(shorthand !== null && { shorthand }),
  };
}

function valueToJson(value: Value): unknown {
  if (typeof value === 'bigint') {
    return value >= -EXACT && value <= EXACT ? Number(value) : { int64: String(value) };
  }
  return typeof value === 'object' && value !== null ? isoText(value.micros) : value;
}
