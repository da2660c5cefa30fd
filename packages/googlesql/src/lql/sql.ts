import { pathText } from '../field-path';
import { levelCondition, LEVELS, type RoleField, type Roles, rolesOf, timeExpression, type TimeRole } from '../roles';
import { isoText } from '../time/calendar';
import type { NamedType } from '../types';
import { Fields, type Form, typeAtEnd } from './fields';
import { LqlError } from './lql-error';
import { textLiteral, valueLiteral } from './operand';
import { quotedName } from '../escapes';
import { checkLevelRanges, severityFor } from './level-range';
import { momentTest } from './moment-test';
import type { Span, Aggregate, Chart, Filter, Rules, Select, Value } from './rules';
import { checkTypes } from './type-faults';

/** The name of a selected field in the result: alias, else the path with underscores for dots and what no name holds. */
export function columnName({ alias, path }: Select): string {
  return alias ?? path.replaceAll('`', '').replace(/[^\p{L}\p{N}_]/gu, '_');
}

/** What the query returns beside a chart; null: every column of the table (no `s:`, or `s:*` among them). */
function selectedFields(rules: Rules): readonly Select[] | null {
  return rules.select.length === 0 || rules.select.some((select) => select.wildcard) ? null : rules.select;
}

/** Result columns are distinguished without case (docs/querying.md). A chart ignores what is selected. */
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
class SqlText {
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
  /** null where they are not known: the table is then taken to be a log with a TIMESTAMP `timestamp` and a text `event_message`. */
  readonly columns: readonly NamedType[] | null;
  /** Missing: what names and types say. */
  readonly roles?: Roles | undefined;
}

/** What no SQL can be ordered by. */
const UNORDERED = ['ARRAY', 'STRUCT', 'JSON', 'GEOGRAPHY'];

const TIMESTAMP: TimeRole = { path: ['timestamp'], type: { kind: 'TIMESTAMP' }, unit: null };
const SUPPOSED: Roles = {
  time: TIMESTAMP,
  message: { path: ['event_message'], type: { kind: 'STRING' } },
  severity: null,
  trace: null,
};

/** A query that is being written: its table, and what is known of that. */
interface Writing {
  readonly fields: Fields;
  readonly alias: string;
  readonly roles: Roles;
  readonly table: CteTable;
}

/**
 * BigQuery SQL for the rules, over the CTE table `table`. Row queries are newest first where the table has a
 * time to order by; charts have `timestamp` (the start of the bucket) and `count`, oldest first.
 *
 * @throws LqlError for what the types of the columns refuse
 */
export function toSql(rules: Rules, table: CteTable): MappedSql {
  const { columns } = table;
  const roles = table.roles ?? (columns === null ? SUPPOSED : rolesOf(columns));
  checkTime(rules, roles);
  checkLevelRanges(rules, columns, roles);
  if (columns !== null) checkTypes(rules, columns, roles);
  const alias = tableAlias(rules, table);
  const fields = new Fields(alias, columns);
  const writing = { fields, alias, roles, table };
  const filters = rules.filters.map((filter) => ({ filter, field: filterField(filter, writing) }));
  const sql = new SqlText().add('SELECT ');
  if (rules.chart !== null) writeChartColumns(sql, rules.chart, writing);
  else writeColumns(sql, selectedFields(rules), writing);
  sql.add(` FROM ${quotedName(table.name)} AS ${alias}`, rules.fromSpan);
  fields.write(sql);
  filters.forEach(({ filter, field }, i) => {
    sql.add(i === 0 ? ' WHERE ' : ' AND ');
    writeFilter(sql, filter, field, writing);
  });
  const order = orderOf(writing);
  if (rules.chart !== null) sql.add(' GROUP BY 1 ORDER BY 1');
  else if (order !== null) sql.add(` ORDER BY ${order} DESC`);
  return sql.finish();
}

/** @throws LqlError no_time */
function checkTime({ filters, chart }: Rules, { time }: Roles): void {
  const use = filters.find(({ role }) => role === 'time') ?? chart;
  if (time !== null || use === null) return;
  throw new LqlError('no_time', 'no column of the table is known to be its time', use.span, {
    hint: 'A column of another type is compared by its own name. The endpoint can say which one is the time: log, in its settings.',
  });
}

/** `t`, unless a result column has that name: ORDER BY would take `t` for the column. */
function tableAlias(rules: Rules, table: CteTable): string {
  const columns = selectedFields(rules)?.map(columnName) ?? table.columns?.map(({ name }) => name) ?? [];
  const taken = new Set(columns.map((name) => name.toLowerCase()));
  let alias = 't';
  for (let n = 1; taken.has(alias); n++) alias = `t${n}`;
  return alias;
}

/** A column, or a field of records that are no lists. */
function column(alias: string, { path }: RoleField): string {
  return [alias, ...path.map(quotedName)].join('.');
}

/** What rows are sorted by: the time, else a text of that name. null: nothing. */
function orderOf({ alias, roles: { time }, table: { columns } }: Writing): string | null {
  if (time !== null) return column(alias, time);
  const text = columns?.find(({ name, type }) => name.toLowerCase() === 'timestamp' && !UNORDERED.includes(type.kind));
  return text === undefined ? null : `${alias}.${quotedName(text.name)}`;
}

function filterField(filter: Filter, { fields, alias, roles }: Writing): string {
  const { role, pathSpan } = filter;
  if (role === 'time' && roles.time !== null) return column(alias, roles.time);
  if (role !== 'message') return fields.field(filter, 'filter', formOf(filter));
  // Of what has no message each value is searched.
  if (roles.message === null) return `TO_JSON_STRING(${alias})`;
  return fields.field({ path: pathText(roles.message.path), pathSpan }, 'filter', 'text');
}

const EXACT = 2n ** 53n;

/** What the values of a filter are compared with. */
function formOf(filter: Filter): Form {
  switch (filter.operator) {
    case 'contains':
    case '~':
    case 'in':
      return 'text';
    case 'list_includes':
    case 'list_includes_regex':
      return 'list';
    default: {
      const values: readonly Value[] = 'values' in filter ? filter.values : [filter.value];
      if (values.some((value) => value === null)) return 'there';
      if (values.every((value) => typeof value === 'bigint') && values.some((value) => !isExact(value)))
        return 'integer';
      if (values.some((value) => typeof value === 'bigint' || typeof value === 'number')) return 'float';
      return values.some((value) => typeof value === 'boolean') ? 'boolean' : 'text';
    }
  }
}

/** Whether FLOAT64 holds it. */
function isExact(value: bigint): boolean {
  return value >= -EXACT && value <= EXACT;
}

function writeColumns(sql: SqlText, selected: readonly Select[] | null, { fields, alias }: Writing): void {
  if (selected === null) {
    sql.add(`${alias}.*`);
    return;
  }
  selected.forEach((select, i) => {
    if (i > 0) sql.add(', ');
    const field = fields.field(select, 'select', 'selected');
    sql.add(field, select.pathSpan);
    // Of what is computed, as out of `_rest`, there is no name.
    if (columnName(select) !== select.path || select.alias !== null || !field.endsWith('`')) {
      sql.add(` AS ${quotedName(columnName(select))}`, select.span);
    }
  });
}

function writeChartColumns(sql: SqlText, chart: Chart, { fields, alias, roles }: Writing): void {
  const { aggregate, span, pathSpan, period } = chart;
  const time = roles.time ?? TIMESTAMP;
  const moment = timeExpression(column(alias, time), time);
  const truncate = time.type.kind === 'DATETIME' ? 'DATETIME_TRUNC' : 'TIMESTAMP_TRUNC';
  const counted = aggregate === 'count' || aggregate === 'countd';
  const form = aggregate === 'count' ? 'there' : counted ? 'text' : 'float';
  const field = chart.role !== 'time' ? fields.field(chart, 'filter', form) : counted ? column(alias, time) : moment;
  sql
    .add(`${truncate}(${moment}, ${period.toUpperCase()}) AS \`timestamp\`, `, span)
    .add(`${aggregateCall(aggregate, field)} AS \`count\``, pathSpan);
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
function writeFilter(sql: SqlText, filter: Filter, field: string, writing: Writing): void {
  if (filter.operator === '=' && filter.value === null) {
    sql.add(field, filter.pathSpan).add(filter.negate ? ' IS NOT NULL' : ' IS NULL', filter.span);
    return;
  }
  if (filter.negate) sql.add('(').add(field, filter.pathSpan).add(' IS NULL OR NOT (', filter.span);
  writeTest(sql, filter, field, writing);
  if (filter.negate) sql.add('))', filter.span);
}

function writeTest(sql: SqlText, filter: Filter, field: string, { roles, table }: Writing): void {
  const { span, pathSpan } = filter;
  if (filter.role === 'time' && roles.time !== null) {
    sql.add(field, pathSpan).add(` ${momentTest(filter, roles.time)}`, span);
    return;
  }
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
    case 'list_includes': {
      const isTyped = table.columns === null || typeAtEnd(filter.path, table.columns) !== 'any';
      const { value } = filter;
      // Of a list in JSON each value is a text.
      const text = typeof value === 'object' ? '' : String(value);
      sql
        .add(`${isTyped ? valueLiteral(value) : textLiteral(text)} IN UNNEST(`, span)
        .add(field, pathSpan)
        .add(')', span);
      break;
    }
    case 'list_includes_regex':
      sql.add('EXISTS (SELECT 1 FROM UNNEST(', span).add(field, pathSpan);
      sql.add(`) AS e WHERE REGEXP_CONTAINS(e, ${textLiteral(filter.value)}))`, span);
      break;
    case 'range': {
      const [from, to] = filter.values.map(valueLiteral) as [string, string];
      sql.add(field, pathSpan).add(` BETWEEN ${from} AND ${to}`, span);
      break;
    }
    case 'in': {
      const severity = table.columns === null ? null : severityFor(filter, table.columns, roles);
      const levels = LEVELS.filter((level) => filter.values.includes(level));
      if (severity !== null) sql.add(levelCondition(field, severity, levels), span);
      else sql.add(field, pathSpan).add(` IN (${filter.values.map(textLiteral).join(', ')})`, span);
      break;
    }
    default:
      sql.add(field, pathSpan).add(` ${filter.operator} ${valueLiteral(filter.value)}`, span);
  }
}

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
    return isExact(value) ? Number(value) : { int64: String(value) };
  }
  return typeof value === 'object' && value !== null ? isoText(value.micros) : value;
}
