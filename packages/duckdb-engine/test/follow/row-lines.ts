/** Generated lines of a data file: rows, rows with doubtful values, lines that are no rows, equal ones, and ones without an id. */
import type { Random } from '../../../../test/dialect/random';

/** Tables whose schema is declared, one of them without `timestamp`; `free` is inferred. */
export const SCHEMA = {
  raw_x: {
    fields: [
      { name: 'r', type: 'RECORD', fields: [{ name: 'timestamp', type: 'TIMESTAMP' }] },
      { name: 'timestamp', type: 'TIMESTAMP', mode: 'REQUIRED' },
      { name: 'id', type: 'STRING' },
      { name: 'i', type: 'INTEGER' },
      { name: 'f', type: 'FLOAT' },
      { name: 'b', type: 'BOOLEAN' },
      { name: 'ss', type: 'STRING', mode: 'REPEATED' },
      { name: 'is', type: 'INTEGER', mode: 'REPEATED' },
      {
        name: 'm',
        type: 'RECORD',
        mode: 'REPEATED',
        fields: [
          { name: 's', type: 'STRING' },
          { name: 'i', type: 'INTEGER' },
          { name: 'at', type: 'TIMESTAMP' },
          { name: 'k', type: 'RECORD', mode: 'REPEATED', fields: [{ name: 'v', type: 'STRING' }] },
        ],
      },
    ],
  },
  every: {
    fields: [
      { name: 'id', type: 'STRING' },
      { name: 'n', type: 'NUMERIC' },
      { name: 'y', type: 'BYTES' },
      { name: 'd', type: 'DATE' },
      { name: 't', type: 'TIME' },
      { name: 'dt', type: 'DATETIME' },
      { name: 'j', type: 'JSON' },
      { name: 'ys', type: 'RECORD', mode: 'REPEATED', fields: [{ name: 'y', type: 'BYTES', mode: 'REPEATED' }] },
    ],
  },
} as const;
export const TABLES = ['raw_x', 'every', 'free', 'text', 'csv'] as const;
export const CSV_HEADER = 'id,n,f,b,at,t';
export type Table = (typeof TABLES)[number];

const TIMES = [
  '"2026-09-30T11:00:00Z"',
  '"2026-09-30T11:00:00.123456Z"',
  '"2026-09-30 13:00:00+02:00"',
  '"2026-09-30 11:00:00 UTC"',
  '"2026-09-30"',
  '1790766000',
  '1790766000123',
  '1790766000.5',
];
/** Of which some are no times, and some are read differently by different readers. */
const ODD_TIMES = [
  '"2026-09-30T11:00:00.123456789Z"',
  '"2026-09-30 13:00:00 Europe/Berlin"',
  '"2026-9-3 1:2:3"',
  '"2026-09-30T11:00Z"',
  '"2026-09-30T11:00"',
  '"2026-09-30T11"',
  '"2026-09-30T24:00:00Z"',
  '"2026-09-30T11:00:60Z"',
  '"2026-09-30t11:00:00z"',
  '"2026-09-30T11:00:00,5Z"',
  '"2026-09-30T11:00:00+0530"',
  '"2026-09-30T11:00:00+05"',
  '"2026-09-30T11:00:00-15:00"',
  '"2026-09-30T11:00:00 +02:00"',
  '"2026-09-30  11:00:00"',
  '" 2026-09-30"',
  '"2026-09-30 "',
  '"2026-02-30"',
  '"20260930"',
  '"10000-01-01"',
  '"290000-01-01 (BC)"',
  '"0000-01-01"',
  '"0001-01-01T00:00:00Z"',
  '"9999-12-31T23:59:59.999999Z"',
  '"9999-12-31T23:59:59-01:00"',
  '"infinity"',
  '"epoch"',
  '"now"',
  '"1790766000"',
  '"1790766000.5"',
  '""',
  '-1',
  '1e9',
  '1790766000123456',
  '99999999999999999999',
  'true',
  '{}',
];
const INTEGERS = ['0', '-1', '42', '"42"', '9007199254740993', '-9223372036854775808', '9223372036854775807'];
const ODD_INTEGERS = [
  '1.0',
  '1e3',
  '1.5',
  '"1.5"',
  '" 42"',
  '"+42"',
  '"042"',
  '-0',
  '"-0"',
  '""',
  '"0x1"',
  '9223372036854775808',
  'true',
  '[1]',
  '{}',
  '"1_000"',
  '"1e3"',
];
const FLOATS = ['0', '-1.5', '1e300', '0.1', '"1.5"', '123456789012345678901234567890', '1E5'];
const ODD_FLOATS = [
  '"NaN"',
  '"-Infinity"',
  '"inf"',
  '1e400',
  '"1e400"',
  '" 1.5"',
  '"1."',
  '".5"',
  '"+.5e3"',
  '-0.0',
  '"1_0"',
  'true',
  '""',
  '[]',
  '9007199254740993',
  '"0x1p3"',
];
const BOOLEANS = ['true', 'false', '"true"', '"FALSE"'];
const ODD_BOOLEANS = ['0', '1', '"yes"', '"t"', '""', '"1"', '{}'];
const TEXTS = ['"x"', '"ü\\u0000\\ud83d\\ude00"', '"{\\"id\\":1}"', '"[null]"', '""', '"\\ud800"', '"a\\nb"', '"é"'];
const ODD_TEXTS = ['5', '1.50', 'true', '1e3', '12345678901234567890', '[]', '{"a":1}', '-0', '1.0'];
const JSONS = ['{"b":[1,9007199254740993],"a":null}', '[]', '"text"', '1.10', 'true', 'null', '{"a":{"a":1}}'];
const NUMERICS = [
  '1',
  '"1.123456789"',
  '12345678901234567890.5',
  '"-0.1"',
  '1e5',
  '"1e-5"',
  '99999999999999999999999999999',
  '"x"',
];
const BYTES = ['"AP8Q"', '""', '"AA=="', '"A"', '5', '"_-=="'];
const DATES = ['"2026-09-30"', '"2026-9-3"', '"2026-02-30"', '"2026-09-30T00:00:00"', '5', '"0001-01-01"'];
const CLOCKS = ['"11:20:00"', '"11:20:00.123456789"', '"1:2:3"', '"24:00:00"', '"11:20"', '5'];
const CIVIL = ['"2026-09-30T11:20:00"', '"2026-09-30 11:20:00.5"', '"2026-09-30"', '"2026-09-30T11:20:00Z"', '5'];

/** Elements of `m` that a row has, of four values each; and whether it may have so many. */
const WIDTHS = [
  [17, true],
  [255, true],
  [256, true],
  [257, false],
  [2_000, false],
  [20_000, false],
] as const;
/** Levels of a record: inferred ones end within the 15 that BigQuery has, what is deeper than a JSON value may be is NULL. */
const DEPTHS = [13, 15, 16, 499, 520, 9_000];

export class RowLines {
  #next = 0;
  /** Ids of rows with long lists that a table has, and of those that it leaves out. */
  readonly kept: string[] = [];
  readonly tooWide: string[] = [];
  readonly #before: string[] = [];

  /** @param odd one value in so many is doubtful; Infinity: none */
  constructor(
    private readonly random: Random,
    private readonly odd: number,
  ) {}

  /** A line without its end. */
  line(table: Table): string {
    const { random } = this;
    if (table === 'text') return this.#text();
    if (table === 'csv') return this.#csv();
    if (table === 'raw_x' && this.#before.length > 0 && random.chance(0.1)) return random.pick(this.#before);
    if (table === 'raw_x' && random.chance(0.04)) return this.#wide();
    if (table !== 'raw_x' && random.chance(0.04)) return this.#deep(table);
    if (this.#isOdd()) return random.pick(['', 'no row', '[1]', '{"id":', 'null', '{} {}', '{"id":"cut', ' ']);
    const line = this.#object(table === 'free' ? this.#free() : this.#declared(table));
    if (table === 'raw_x' && random.chance(0.2)) this.#before.push(line);
    return line;
  }

  /** A line, with those that belong to it. */
  #text(): string {
    const { random } = this;
    const n = this.#next++;
    const line = random.pick([
      `text-${n} plain`,
      `2026-09-30T11:00:00.${100 + random.int(900)}Z WARN text-${n}`,
      `<34>1 2026-09-30T11:00:00Z host app 1 - - text-${n}`,
      `192.0.2.1 - - [30/Sep/2026:11:00:00 +0000] "GET /${n} HTTP/1.1" ${random.pick([200, 404])} ${n}`,
      `ts=2026-09-30T11:00:00Z level=info msg="text-${n}" n=${n}`,
    ]);
    return `${line}${random.pick(['', '', '\n  more', '\n\tat a\n\tat b'])}`;
  }

  #csv(): string {
    const { random } = this;
    const values = [
      `csv-${this.#next++}`,
      random.pick(['1', '42', '']),
      random.pick(['1.5', '0.25', '']),
      random.pick(['true', 'false']),
      random.pick(['2026-09-30T11:00:00Z', '2026-09-30T11:00:00.123456789Z', '']),
      random.pick(['a', '"b,""c"', '"x\ny"']),
    ];
    return values.join(',');
  }

  #wide(): string {
    const [elements, isKept] = this.random.pick(WIDTHS);
    const id = `wide-${this.#next++}`;
    (isKept ? this.kept : this.tooWide).push(id);
    const list = Array.from({ length: elements }, () => this.random.pick(['{}', '{"s":"x"}', '{"i":1}'])).join(',');
    return `{"id":"${id}","timestamp":"2026-09-30T11:00:00Z","m":[${list}]}`;
  }

  #deep(table: Table): string {
    // A name of its own: the type of a field is that of its first value.
    const depth = this.random.pick(DEPTHS);
    return `{"id":"deep-${this.#next++}","${table === 'free' ? `deep${depth}` : 'j'}":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`;
  }

  #isOdd(): boolean {
    return this.random.chance(1 / this.odd);
  }

  #of(usual: readonly string[], odd: readonly string[]): string {
    return this.#isOdd() ? this.random.pick(odd) : this.random.pick(usual);
  }

  #object(members: readonly (readonly [string, string])[]): string {
    const space = this.random.chance(0.1) ? ' ' : '';
    return `${space}{${members.map(([name, value]) => `"${name}":${space}${value}`).join(`,${space}`)}}`;
  }

  #declared(table: Table): (readonly [string, string])[] {
    const { random } = this;
    const id = `"${table}-${this.#next++}"`;
    const all: (readonly [string, string])[] =
      table === 'raw_x'
        ? [
            ['r', this.#object([['timestamp', this.#of(TIMES, ODD_TIMES)]])],
            ['i', this.#of(INTEGERS, ODD_INTEGERS)],
            ['f', this.#of(FLOATS, ODD_FLOATS)],
            ['b', this.#of(BOOLEANS, ODD_BOOLEANS)],
            ['ss', this.#list(() => this.#of(TEXTS, ODD_TEXTS))],
            ['is', this.#list(() => this.#of(INTEGERS, ODD_INTEGERS))],
            ['m', this.#records()],
            ['zz', this.#of(TEXTS, ODD_TEXTS)],
          ]
        : [
            ['n', this.#of(NUMERICS, ODD_FLOATS)],
            ['y', this.#of(BYTES, ODD_TEXTS)],
            ['d', this.#of(DATES, ODD_TIMES)],
            ['t', this.#of(CLOCKS, ODD_TIMES)],
            ['dt', this.#of(CIVIL, ODD_TIMES)],
            ['j', this.#of(JSONS, ODD_TEXTS)],
            ['ys', `[{"y":["AA==","${random.pick(['', 'AP8Q'])}"]}]`],
          ];
    const some = all.filter(() => random.chance(0.7));
    const named = random.chance(0.8) ? [['id', id] as const, ...some] : some;
    const timed = table !== 'raw_x' ? named : [...named, ['timestamp', this.#of(TIMES, ODD_TIMES)] as const];
    const twice = this.#isOdd() && timed.length > 0 ? [random.pick(timed)] : [];
    const other = this.#isOdd() ? [['ID', '"of another case"'] as const] : [];
    return [...timed, ...twice, ...other].map(([name, value]) => [name, this.#isOdd() ? 'null' : value]);
  }

  /** Values of one type for each name: what a later value of another type becomes depends on which was first. */
  #free(): (readonly [string, string])[] {
    const { random } = this;
    const all: (readonly [string, string])[] = [
      ['n', random.pick(['1', '2'])],
      ['t', random.pick(['"a"', '"b"'])],
      [`v${random.int(4)}`, random.pick(['true', 'false'])],
      ['o', `{"p${random.int(3)}":1}`],
      ['l', random.pick(['["x"]', '["x","y"]'])],
    ];
    return [['id', `"free-${this.#next++}"`], ...all.filter(() => random.chance(0.6))];
  }

  #list(item: () => string): string {
    return `[${Array.from({ length: this.random.int(3) }, item).join(',')}]`;
  }

  #records(): string {
    const { random } = this;
    const record = (): string =>
      this.#object([
        ['s', this.#of(TEXTS, ODD_TEXTS)],
        ['i', this.#of(INTEGERS, ODD_INTEGERS)],
        ['at', this.#of(TIMES, ODD_TIMES)],
        ['k', random.pick(['[{"v":"x"}]', '[]', '{"v":"y"}', 'null', '[{"v":"x"},{}]'])],
      ]);
    // Mostly one, as records of logs are.
    return random.chance(0.7) ? `[${record()}]` : random.chance(0.3) ? record() : this.#list(record);
  }
}
