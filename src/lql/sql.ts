import type { NamedType } from '../googlesql/types';
import { columnName, selectedFields } from './columns';
import { Joins } from './joins';
import { quoteName, textLiteral, type TimeColumn, valueLiteral } from './literal';
import type { Aggregate, Chart, Filter, Rules, Select } from './rules';
import { type MappedSql, SqlText } from './sql-text';
import { checkTypes } from './type-faults';

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
