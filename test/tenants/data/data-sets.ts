/** Two data folders that hold the same rows of one project and other rows of others. */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RestField } from '../../../packages/googlesql/src/rest-schema';
import { Random } from '../../sandbox/fuzz/random';
import { kindOf, RAW_TABLES, schemas, type RawTable } from './raw-tables';
import { foreignRow, LISTS, ownRow, shortForeignRow, type Foreign, type Spoilt } from './rows';

export interface DataSize {
  /** Rows of the queried project and of all others, in each table. */
  readonly own: number;
  readonly foreign: number;
  /** Whether a part of a table's rows comes while it is served. */
  readonly grows: boolean;
  /**
   * Tables that get so many short rows of other projects on top. DuckDB tries another order of a scan's filters after 25
   * vectors of 2,048 rows.
   */
  readonly long: { readonly tables: number; readonly rows: number };
  /** Tables that the queried project has so many rows in: more than an endpoint's `max_rows`, so that some of them are cut off. */
  readonly busy: { readonly tables: number; readonly rows: number };
}

/** How the own rows of a busy table lie to those of others in a data set: among them, before or after them, or in another file. */
const LAYOUTS = ['among', 'before', 'after', 'apart'] as const;
type Layout = (typeof LAYOUTS)[number];

interface Pending {
  readonly file: string;
  readonly text: string;
}

/** What the others' rows of a table are, in the first data set and in the second. */
type Others = 'none' | 'harmless' | 'hostile';

const PAIRS: readonly (readonly [Others, Others])[] = [
  ['hostile', 'harmless'],
  ['harmless', 'hostile'],
  ['hostile', 'none'],
  ['hostile', 'none'],
  ['none', 'hostile'],
  ['none', 'hostile'],
  ['hostile', 'hostile'],
];

/** Tables that the queried project has no rows in, in a data set: one in so many. */
const EMPTY_ONE_IN = 8;
/** Tables of which one own row holds a failing value in some field: one in so many. */
const SPOILT_ONE_IN = 5;

/** What is appended to a folder's files while a service serves them. */
export interface Later {
  /** Of all tables, before and after. */
  readonly rowsBefore: number;
  readonly rows: number;
  append(): void;
}

/**
 * Writes both folders. Own rows come in the same order in each, the others' are put between them in any: so they share
 * DuckDB's row groups, and BigQuery has no order anyway.
 *
 * @param size where its tables grow, a part of the rows comes later
 * @returns what is to be appended to each
 */
export function writeDataSets(
  folders: readonly [string, string],
  size: DataSize,
  seed: number,
): readonly [Later, Later] {
  const random = new Random(seed);
  for (const folder of folders) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'schema.json'), JSON.stringify(schemas()));
  }
  const rowsBefore: [number, number] = [0, 0];
  const rows: [number, number] = [0, 0];
  const pending: readonly [Pending[], Pending[]] = [[], []];
  const long = longTables(size, random);
  const busy = new Set(size.busy.tables === 0 ? [] : someOf(RAW_TABLES, size.busy.tables, random));
  for (const table of RAW_TABLES) {
    const isBusy = busy.has(table);
    const count = isBusy ? size.busy.rows : random.below(EMPTY_ONE_IN) === 0 ? 0 : size.own;
    const isSpoilt = random.below(isBusy ? 2 : SPOILT_ONE_IN) === 0;
    const spoilt: Spoilt = isSpoilt ? somePaths(table, random) : new Set();
    const odd = isBusy ? random.below(count) : 3;
    const lists = random.pick(LISTS);
    const own = Array.from({ length: count }, (_, i) =>
      ownRow(table, i, i === odd ? spoilt : new Set(), lists, random),
    );
    const others = random.pick(PAIRS);
    // The same own rows come later in both.
    const [ownBefore, ownLater] = split(own, size.grows ? part(random) : 1);
    folders.forEach((folder, i) => {
      const more = long.get(table) ?? 0;
      const foreign = foreignRows(table, others[i] ?? 'none', size.foreign, more, random);
      const [foreignBefore, foreignLater] = split(foreign, size.grows ? part(random) : 1);
      const layout = isBusy ? random.pick(LAYOUTS) : 'among';
      const file = join(folder, `${table.name}.ndjson`);
      const files = layout === 'apart' ? [file, join(folder, table.name, 'others.ndjson')] : [file];
      if (layout === 'apart') mkdirSync(join(folder, table.name));
      const before = laidOut(ownBefore, foreignBefore, layout, random);
      const after = laidOut(ownLater, foreignLater, layout, random);
      files.forEach((one, at) => {
        writeFileSync(one, text(before[at] ?? []));
        pending[i]!.push({ file: one, text: text(after[at] ?? []) });
      });
      rowsBefore[i]! += ownBefore.length + foreignBefore.length;
      rows[i]! += own.length + foreign.length;
    });
  }
  const later = (i: 0 | 1): Later => ({
    rowsBefore: rowsBefore[i],
    rows: rows[i],
    append: () => {
      for (const { file, text } of pending[i]) appendFileSync(file, text);
    },
  });
  return [later(0), later(1)];
}

/** How many rows come on top in which table: in one of them twice as many, so that it is longer than a row group of DuckDB. */
function longTables({ long }: DataSize, random: Random): Map<RawTable, number> {
  return new Map(
    someOf(RAW_TABLES, long.tables, random).map((table, i) => [table, i === 0 ? 2 * long.rows : long.rows]),
  );
}

/** How much of a table is there at the start. */
function part(random: Random): number {
  return random.pick([0, 1, 1, random.below(100) / 100]);
}

function split<T>(list: readonly T[], first: number): [T[], T[]] {
  const end = Math.floor(list.length * first);
  return [list.slice(0, end), list.slice(end)];
}

const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

/** Short rows that long tables are filled with, over and over. */
const DIFFERENT = 1000;

function foreignRows(table: RawTable, kind: Others, count: number, more: number, random: Random): string[] {
  if (kind === 'none') return [];
  const foreign: Foreign = { kind, lists: random.pick(LISTS) };
  const rows = Array.from({ length: count }, (_, i) => foreignRow(table, i, foreign, random));
  const short = Array.from({ length: more > 0 ? DIFFERENT : 0 }, (_, i) => shortForeignRow(table, i, foreign, random));
  // Duplicates.
  const all = rows.map((row) => (random.chance(3) ? random.pick(rows) : row));
  for (let n = 0; n < more; n++) all.push(random.pick(short));
  return shuffled(all, random);
}

/** The lines of one file, or of two. */
function laidOut(own: readonly string[], foreign: readonly string[], layout: Layout, random: Random): string[][] {
  switch (layout) {
    case 'among':
      return [interleaved(own, foreign, random)];
    case 'before':
      return [[...own, ...foreign]];
    case 'after':
      return [[...foreign, ...own]];
    case 'apart':
      return [[...own], [...foreign]];
  }
}

/** Each list keeps its order; which of them comes next is chance, in proportion to what is left. */
function interleaved(own: readonly string[], foreign: readonly string[], random: Random): string[] {
  const lines: string[] = [];
  for (let i = 0, j = 0; i < own.length || j < foreign.length;) {
    const takeOwn = random.below(own.length - i + foreign.length - j) < own.length - i;
    lines.push((takeOwn ? own[i++] : foreign[j++]) ?? '');
  }
  return lines;
}

function shuffled<T>(list: T[], random: Random): T[] {
  for (let i = list.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [list[i], list[j]] = [list[j] as T, list[i] as T];
  }
  return list;
}

function someOf<T>(list: readonly T[], count: number, random: Random): T[] {
  return shuffled([...list], random).slice(0, count);
}

function somePaths(table: RawTable, random: Random): Set<string> {
  const paths = leaves(table.fields, '').filter(
    ([path, field]) => !['other', 'moment', 'truth'].includes(kindOf(table, path, field)),
  );
  return new Set([random.pick(paths)[0], random.pick(paths)[0]]);
}

function leaves(fields: readonly RestField[], prefix: string): (readonly [string, RestField])[] {
  return fields.flatMap((field) =>
    field.type === 'RECORD'
      ? leaves(field.fields, `${prefix}${field.name}.`)
      : [[`${prefix}${field.name}`, field] as const],
  );
}
