/**
 * What exactness costs: functions whose rows DuckDB's own would get wrong at the edges, over the edge rows of a day, against DuckDB's own
 * over the same rows, wrong at the edges as they are.
 */
import { compare, ms, type Comparison } from './measure';
import { openBothSides } from './edge-rows';
import { Stored } from './stored';

const ROUNDS = 5;
const DAY = { iso_timestamp_start: '2026-09-29T12:00:00Z', iso_timestamp_end: '2026-09-30T12:00:00Z' };
const WHERE = `project = 'default' AND timestamp > TIMESTAMP '2026-09-29 12:00:00' AND timestamp <= TIMESTAMP '2026-09-30 12:00:00'`;

const ZONE = 'America/New_York';
const NUMBER = {
  sql: 'cast(unix_micros(t.timestamp) as numeric)',
  byHand: 'CAST(epoch_us(timestamp) AS DECIMAL(38, 9))',
};
const IN_ZONE = `timezone('${ZONE}', timezone('UTC', timestamp))`;

/** An expression over a row, in GoogleSQL and as DuckDB has it; both are counted by what they give. */
const PAIRS: readonly (readonly [name: string, sql: string, byHand: string])[] = [
  ['UPPER (Unicode)', 'length(upper(event_message))', 'length(upper(event_message))'],
  ['LOWER (Unicode)', 'length(lower(event_message))', 'length(lower(event_message))'],
  ['INITCAP', 'length(initcap(event_message))', 'length(lower(event_message))'],
  [
    'CONTAINS_SUBSTR',
    "if(contains_substr(event_message, 'Signup'), 1, 0)",
    "if(contains(lower(event_message), 'signup'), 1, 0)",
  ],
  ['NORMALIZE', 'length(normalize(event_message, NFKC))', 'length(nfc_normalize(event_message))'],
  [
    'EDIT_DISTANCE',
    "edit_distance(substr(event_message, 1, 20), 'GET | 200')",
    "levenshtein(event_message[1:20], 'GET | 200')",
  ],
  [
    'REGEXP_EXTRACT',
    String.raw`length(regexp_extract(event_message, r'\| (\d+) \|'))`,
    String.raw`length(regexp_extract(event_message, '\| (\d+) \|', 1))`,
  ],
  [
    'REGEXP_EXTRACT_ALL',
    String.raw`array_length(regexp_extract_all(event_message, r'\d+'))`,
    String.raw`len(regexp_extract_all(event_message, '\d+'))`,
  ],
  ['SPLIT', "array_length(split(event_message, ' | '))", "len(string_split(event_message, ' | '))"],
  [
    'TIMESTAMP_TRUNC in a zone',
    `unix_seconds(timestamp_trunc(t.timestamp, day, '${ZONE}'))`,
    `epoch_us(date_trunc('day', ${IN_ZONE}))`,
  ],
  ['EXTRACT in a zone', `extract(hour from t.timestamp at time zone '${ZONE}')`, `hour(${IN_ZONE})`],
  [
    'FORMAT_TIMESTAMP in a zone',
    `length(format_timestamp('%F %T', t.timestamp, '${ZONE}'))`,
    `length(strftime(${IN_ZONE}, '%Y-%m-%d %H:%M:%S'))`,
  ],
  [
    'PARSE_TIMESTAMP',
    "unix_seconds(parse_timestamp('%Y-%m-%d %H:%M:%S', format_timestamp('%F %T', t.timestamp)))",
    "epoch_us(strptime(strftime(timestamp, '%Y-%m-%d %H:%M:%S'), '%Y-%m-%d %H:%M:%S'))",
  ],
  [
    'TIMESTAMP_DIFF',
    "timestamp_diff(t.timestamp, timestamp '2026-01-01', hour)",
    "date_sub('hour', TIMESTAMP '2026-01-01', timestamp)",
  ],
  ['NUMERIC product', `${NUMBER.sql} * numeric '1.5'`, `${NUMBER.byHand} * 1.5::DECIMAL(4, 1)`],
  ['NUMERIC quotient', `${NUMBER.sql} / numeric '7'`, `${NUMBER.byHand} / 7::DECIMAL(4, 1)`],
  ['NUMERIC rounded', `round(${NUMBER.sql}, -3)`, `round(${NUMBER.byHand}, -3)`],
  [
    'JSON_VALUE',
    `length(json_value(concat('{"a": "', id, '"}'), '$.a'))`,
    `length(json_extract_string(concat('{"a": "', id, '"}'), '$.a'))`,
  ],
  ['FARM_FINGERPRINT', 'farm_fingerprint(id)', 'hash(id)'],
];

/** Aggregates over all rows; those of BIGNUMERIC and INTERVAL have no counterpart. */
const AGGREGATES: readonly (readonly [name: string, sql: string, byHand: string])[] = [
  ['SUM of NUMERIC', `sum(${NUMBER.sql})`, `sum(${NUMBER.byHand})`],
  ['AVG of NUMERIC', `avg(${NUMBER.sql})`, `avg(${NUMBER.byHand})`],
  [
    'STDDEV of FLOAT64',
    'stddev(cast(unix_seconds(t.timestamp) as float64))',
    'stddev(CAST(epoch_us(timestamp) // 1000000 AS DOUBLE))',
  ],
  [
    'MIN of FLOAT64',
    'min(cast(unix_seconds(t.timestamp) as float64))',
    'min(CAST(epoch_us(timestamp) // 1000000 AS DOUBLE))',
  ],
  ['APPROX_COUNT_DISTINCT', 'approx_count_distinct(id)', 'approx_count_distinct(id)'],
];

export async function exactFunctions(print: (line: string) => void): Promise<void> {
  const sides = await openBothSides(print);
  const stored = await Stored.open(sides.engine);
  const pairs = [
    ...PAIRS.map(([name, sql, byHand]) => [name, `countif(${sql} is not null)`, `count(${byHand})`] as const),
    ...AGGREGATES,
  ];
  try {
    for (const [name, sql, byHand] of pairs) {
      const query = `select ${sql} as value from edge_logs as t`;
      const ours = (): Promise<unknown> => stored.run('logs.all', { project: 'default', ...DAY }, query);
      const theirs = (): Promise<unknown> =>
        sides.byHand(`SELECT to_json({value: ${byHand}}) FROM edge WHERE ${WHERE}`);
      print(line(await compare(name, ours, theirs, ROUNDS)));
    }
  } finally {
    await stored.close();
    await sides.close();
  }
}

/** Without a goal: what is exact may cost more, and how much is to be known. */
function line({ name, ours, baseline }: Comparison): string {
  return `${name.padEnd(44)} ${ms(ours)}  DuckDB's own ${ms(baseline)}  ${(ours / baseline).toFixed(2)}x`;
}
