/** Rows of the project that is queried, and of others. */
import type { RestField } from '../../../packages/googlesql/src/rest-schema';
import type { Random } from '../../sandbox/fuzz/random';
import { kindOf, type RawTable } from './raw-tables';
import { acceptedCount, acceptedText, failingCount, failingText, secretText, type Kind } from './value-kinds';

/** The project and the numeric tenant that the keys are pinned to. */
export const PROJECT = 'mine';
export const TENANT = 7;

/** What `CLOCK` says to both services, in microseconds since the epoch. */
const NOW = 1_790_769_600_000_000n;

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** How the values of a row are chosen. */
interface Manner {
  readonly own: boolean;
  /** Parts in a hundred of the values that make functions fail, that are secrets, that are NULL. */
  readonly failing: number;
  readonly secret: number;
  readonly missing: number;
  /** Whether some lists have many elements. */
  readonly long: boolean;
  /** How many elements a list has. */
  readonly elements: (random: Random) => number;
}

/** How many elements lists of records have: one in every row (they are stored as records), in nearly every row, or any. */
export type Lists = 'one' | 'mostly one' | 'any';
export const LISTS: readonly Lists[] = ['one', 'mostly one', 'any'];

const ODD_ONE_IN = 600;

/** Paths of the table in which a row of the own project holds a failing value: so there are errors of one's own too. */
export type Spoilt = ReadonlySet<string>;

const OWN: Manner = {
  own: true,
  failing: 0,
  secret: 0,
  missing: 0,
  long: false,
  elements: (random) => (random.chance(90) ? 1 : 2),
};

/** Others' rows that nothing fails on. */
const HARMLESS: Manner = { ...OWN, own: false };

/** Others' rows full of values that fail, secrets, NULLs, and of empty and long lists. */
const HOSTILE: Manner = {
  own: false,
  failing: 45,
  secret: 25,
  missing: 8,
  long: true,
  elements: (random) => random.pick([0, 1, 1, 1, 2, 3]),
};

/** Row `index` of the queried project: ids and instants are its own alone. @param spoilt empty: nothing in it fails */
export function ownRow(table: RawTable, index: number, spoilt: Spoilt, lists: Lists, random: Random): string {
  const micros = NOW - BigInt(index) * 13_000_017n - 1_000_003n;
  const fails = spoilt.size > 0;
  const manner = withLists(fails ? { ...OWN, failing: 100 } : OWN, lists);
  const row = record(table, manner, fails ? spoilt : new Set(), random);
  return line(table, { ...row, id: ownId(index), timestamp: instantText(micros) }, true, random);
}

const ownId = (index: number): string => `m-${String(index).padStart(4, '0')}`;

/** Mostly of a row that a busy table alone has. */
export function someOwnId(random: Random): string {
  return ownId(random.below(2300));
}

/** Rows of other projects. */
export interface Foreign {
  readonly kind: 'harmless' | 'hostile';
  readonly lists: Lists;
}

/** A row of another project. */
export function foreignRow(table: RawTable, index: number, { kind, lists }: Foreign, random: Random): string {
  const manner = withLists(kind === 'harmless' ? HARMLESS : HOSTILE, lists);
  const extreme = kind === 'hostile' && random.chance(10);
  const recent = instantText(NOW - BigInt(random.below(2_000_000_000)) * 2n);
  const timestamp = extreme ? random.pick(EXTREMES) : recent;
  const id =
    kind === 'hostile' && random.chance(30)
      ? random.pick(['', 'boom', '0', 'x', secretText(random)])
      : `x-${String(index)}`;
  const row = record(table, manner, ALL, random);
  if (kind === 'hostile' && random.chance(60)) {
    row['event_message'] = random.chance(60) ? secretText(random) : failingText(table.message, random);
  }
  return line(table, { ...row, id, timestamp }, false, random);
}

/** The same with next to nothing in its records. */
export function shortForeignRow(table: RawTable, index: number, foreign: Foreign, random: Random): string {
  const fields = table.fields.flatMap((field) => {
    if (field.type !== 'RECORD' && field.mode !== 'REPEATED') return field;
    return field.type === 'RECORD' && foreign.lists !== 'any' ? { ...field, fields: [] } : [];
  });
  return foreignRow({ ...table, fields }, index, foreign, random);
}

function withLists(manner: Manner, lists: Lists): Manner {
  if (lists === 'any') return manner;
  const odd = (random: Random): boolean => lists === 'mostly one' && random.below(ODD_ONE_IN) === 0;
  return { ...manner, long: false, elements: (random) => (odd(random) ? random.pick([0, 2]) : 1) };
}

const EXTREMES = [
  '0001-01-01T00:00:00.000000Z',
  '9999-12-31T23:59:59.999999Z',
  '1970-01-01T00:00:00.000000Z',
  '9999-01-01T00:00:00.000000Z',
];

/** Every path may hold a failing value. */
const ALL = null;

function record(table: RawTable, manner: Manner, spoilt: Spoilt | null, random: Random): Record<string, Json> {
  return fieldsOf(table, table.fields, '', manner, spoilt, random);
}

function fieldsOf(
  table: RawTable,
  fields: readonly RestField[],
  prefix: string,
  manner: Manner,
  spoilt: Spoilt | null,
  random: Random,
): Record<string, Json> {
  const record: Record<string, Json> = {};
  for (const field of fields) {
    const path = `${prefix}${field.name}`;
    if (field.type === 'RECORD') {
      const count = field.mode === 'REPEATED' ? elements(path, manner, random) : 1;
      const list = Array.from({ length: count }, () =>
        fieldsOf(table, field.fields, `${path}.`, manner, spoilt, random),
      );
      record[field.name] = field.mode === 'REPEATED' ? list : (list[0] ?? null);
      continue;
    }
    const kind = kindOf(table, path, field);
    const one = (): Json => scalar(kind, field, manner, spoilt === null || spoilt.has(path), random);
    if (field.mode === 'REPEATED') {
      const count = manner.elements(random);
      record[field.name] = Array.from({ length: count }, () => one() ?? 'none').filter((value) => value !== 'none');
    } else record[field.name] = one();
  }
  return record;
}

/** Some lists of other projects' records are long. */
function elements(path: string, manner: Manner, random: Random): number {
  if (path === 'metadata' && manner.long && random.chance(2)) return 12;
  return manner.elements(random);
}

function scalar(kind: Kind, field: RestField, manner: Manner, mayFail: boolean, random: Random): Json {
  const roll = random.below(100);
  const failing = mayFail && roll < manner.failing;
  const secret = roll >= manner.failing && roll < manner.failing + manner.secret;
  if (field.mode === 'NULLABLE' && random.chance(manner.missing)) return null;
  switch (kind) {
    case 'count':
      return failing ? `#${failingCount(random)}` : acceptedCount(random);
    case 'ratio':
      return failing ? random.pick([0, -1, 1e300, -0.5]) : 1 + random.below(400) / 4;
    case 'truth':
      return random.chance(50);
    case 'moment':
      return instantText(NOW);
    case 'other':
      if (field.name === 'url') return `https://${manner.own ? PROJECT : 'other'}.api.example.com${somePath(random)}`;
      if (field.name === 'path') return somePath(random);
      return secret ? secretText(random) : `v${String(random.below(50))}`;
    default:
      if (failing) return failingText(kind, random);
      return secret ? secretText(random) : acceptedText(kind, random);
  }
}

function somePath(random: Random): string {
  return `/${random.pick(['rest', 'storage', 'auth', 'realtime'])}/v1/${random.pick(['items', 'list', 'token'])}`;
}

/** Marks the row's project where the table names it, and writes it down. */
function line(table: RawTable, row: Record<string, Json>, own: boolean, random: Random): string {
  const foreign = random.pick(['other', 'boom', 'Mine', '', 'mine ', '7']);
  const name = own ? PROJECT : foreign;
  const marked = { ...row };
  if (table.marker === 'tenant') marked['tenant'] = own ? TENANT : random.pick([8, 0, -7, null, 70]);
  else if (table.marker === 'project') marked['project'] = own ? PROJECT : random.chance(10) ? null : name;
  else {
    const [, field = ''] = table.marker.split('.');
    const list = (marked['metadata'] ?? [{}]) as readonly Record<string, Json>[];
    marked['metadata'] = list.map((one) => ({ ...one, [field]: !own && random.chance(10) ? null : name }));
    marked['project'] = null;
  }
  return text(marked);
}

/** JSON in which integers keep their digits: no text of a row begins with "#". */
function text(row: Record<string, Json>): string {
  return JSON.stringify(row).replace(/"#(-?\d+)"/g, '$1');
}

function instantText(micros: bigint): string {
  const seconds = micros / 1_000_000n;
  const fraction = String(micros % 1_000_000n).padStart(6, '0');
  return `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19)}.${fraction}Z`;
}
