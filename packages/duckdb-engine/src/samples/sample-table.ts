import type { RestField } from '@logquay/googlesql/types';
import { quoteName, quoteText } from '../sql';
import { fieldSql, pick, type Shape, singleLists } from './record';

/** How the rows of one log table are generated. All texts are SQL over `i`, `t` (the row's instant) and earlier columns. */
export interface SampleTable {
  readonly name: string;
  readonly rows: number;
  /** Columns that later ones and the row are made of, a layer reading those before it. `project` is always there. */
  readonly columns: readonly Readonly<Record<string, string>>[];
  readonly message: string;
  /** Whether the row itself names its project; in the other tables the metadata does. */
  readonly rowProject: boolean;
  readonly metadata: Shape;
}

const PROJECTS = ['default', 'qwmxkdhzvnbtyplrcjfa', 'staging'] as const;

/** Microseconds of the week that the rows spread over. */
const WEEK = 7 * 24 * 3600 * 1_000_000;
/** Above 1 the later hours hold more rows: about four times as many in the last as in the first. */
const SKEW = 1.3;

/**
 * A query for the rows in order of time, the last within moments of `until` (SQL, a TIMESTAMP). The week is cut into
 * one slice per row and each row lies somewhere in its own: no sorting, and no gap that an even chance would leave.
 *
 * @param asElements the lists of `singleListsOf` as their elements
 */
export function sampleRows(
  table: SampleTable,
  fields: readonly RestField[],
  until: string,
  asElements = false,
): string {
  const age = `pow((${table.rows} - 1 - i + (hash(i, salt, 'age') % 1000) / 1000.0) / ${table.rows}, ${SKEW})`;
  const times = `${until} - to_microseconds(CAST(${WEEK} * ${age} AS BIGINT))`;
  return rowsOf(table, fields, `range(${table.rows})`, times, asElements);
}

/** A query for one more row of now, with its lists as elements. @param number how many rows there are before it */
export function nextSampleRow(table: SampleTable, fields: readonly RestField[], number: number): string {
  return rowsOf(table, fields, `range(${number}, ${number + 1})`, `CAST(now() AT TIME ZONE 'UTC' AS TIMESTAMP)`, true);
}

function rowsOf(
  table: SampleTable,
  fields: readonly RestField[],
  numbers: string,
  times: string,
  asElements: boolean,
): string {
  let query = `SELECT i, ${quoteText(table.name)} AS salt FROM ${numbers} AS r(i)`;
  query = `SELECT *, ${times} AS t FROM (${query})`;
  const project = pick('project', [
    [PROJECTS[0], 6],
    [PROJECTS[1], 3],
    [PROJECTS[2], 1],
  ]);
  for (const columns of [{ project }, ...table.columns]) {
    const added = Object.entries(columns).map(([name, sql]) => `${sql} AS ${quoteName(name)}`);
    query = `SELECT *, ${added.join(', ')} FROM (${query})`;
  }
  const row = rowOf(table);
  const values = fields.map((field) => `${fieldSql(field, row[field.name], asElements)} AS ${quoteName(field.name)}`);
  return `SELECT ${values.join(', ')} FROM (${query})`;
}

/** Paths of the lists that `asElements` stores as their elements, as of a part. */
export function singleListsOf(table: SampleTable, fields: readonly RestField[]): ReadonlySet<string> {
  return new Set(singleLists(fields, rowOf(table)));
}

function rowOf(table: SampleTable): Shape {
  return {
    timestamp: 't',
    id: `CAST(CAST(md5(concat(salt, i)) AS UUID) AS VARCHAR)`,
    event_message: table.message,
    ...(table.rowProject ? { project: 'project' } : {}),
    metadata: table.metadata,
  };
}
