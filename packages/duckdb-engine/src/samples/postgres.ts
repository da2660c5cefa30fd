import { below, between, hex, pick } from './record';
import type { SampleTable } from './sample-table';

/**
 * What the server says: severity, SQLSTATE, command tag, backend, application, message, statement. A `#` is replaced by a
 * number that differs from row to row.
 */
const EVENTS: readonly (readonly [string, number])[] = [
  [
    'LOG|00000|authentication|client backend|PostgREST 13.0.7|connection authorized: user=authenticator database=postgres SSL enabled|',
    8,
  ],
  ['LOG|00000||not initialized||connection received: host=203.0.113.20 port=4####|', 6],
  ['LOG|00000|idle|client backend|psql|disconnection: session time: 0:00:##.### user=postgres database=postgres|', 5],
  ['LOG|00000||checkpointer||checkpoint complete: wrote ### buffers (1.#%); write=##.### s, sync=0.00# s|', 5],
  [
    'LOG|00000|SELECT|client backend|PostgREST 13.0.7|duration: ####.### ms  statement: select * from public.todos where owner = $1|select * from public.todos where owner = $1',
    4,
  ],
  [
    'LOG|00000||pg_cron launcher|pg_cron scheduler|cron job # starting: select refresh_totals()|select refresh_totals()',
    3,
  ],
  [
    'ERROR|23505|INSERT|client backend|PostgREST 13.0.7|duplicate key value violates unique constraint "profiles_pkey"|insert into public.profiles (id, name) values ($1, $2)',
    3,
  ],
  ['ERROR|42P01|PARSE|client backend|psql|relation "public.todo" does not exist|select * from public.todo', 2],
  [
    'ERROR|57014|SELECT|client backend|PostgREST 13.0.7|canceling statement due to statement timeout|select * from public.orders',
    2,
  ],
  [
    'ERROR|42501|SELECT|client backend|PostgREST 13.0.7|permission denied for table secrets|select * from public.secrets',
    1,
  ],
  ['WARNING|25001|BEGIN|client backend|psql|there is already a transaction in progress|begin', 1],
  ['FATAL|28P01|authentication|client backend||password authentication failed for user "postgres"|', 2],
];

const orNull = (part: number): string => `nullif(event[${part}], '')`;

export const POSTGRES: SampleTable = {
  name: 'raw_postgres_logs',
  rows: 9_000,
  columns: [
    { event: `string_split(${pick('event', EVENTS)}, '|')`, digits: `CAST(hash(i, salt, 'digits') AS VARCHAR)` },
    // Every # of a message becomes the row's own digit: what looks alike is then not the same message.
    { message: `replace(replace(event[6], '##', digits[2:3]), '#', digits[4])` },
  ],
  message: 'message',
  rowProject: true,
  metadata: {
    host: `concat('db-', project)`,
    parsed: {
      application_name: orNull(5),
      backend_type: 'event[4]',
      command_tag: orNull(3),
      connection_from: `CASE WHEN event[4] = 'client backend' THEN concat('203.0.113.', ${below('from', 254)} + 1, ':', ${between('port', 40000, 60000)}) END`,
      database_name: `'postgres'`,
      detail: `CASE WHEN event[2] = '23505' THEN concat('Key (id)=(', ${between('key', 1, 900)}, ') already exists.') END`,
      error_severity: 'event[1]',
      hint: `CASE WHEN event[2] = '42P01' THEN 'Perhaps you meant to reference the table "public.todos".' END`,
      process_id: between('pid', 100, 99999),
      query: orNull(7),
      query_id: pick('query', ['0', '0', '7309167345982314567', '-4823650917730056231']),
      session_id: `concat(to_hex(epoch(t)::BIGINT - ${between('session', 1, 5000)}), '.', ${hex('session', 4)})`,
      session_line_num: between('line', 1, 12),
      session_start_time: `strftime(t - to_seconds(${between('session', 1, 5000)}), '%Y-%m-%d %H:%M:%S UTC')`,
      sql_state_code: 'event[2]',
      timestamp: `strftime(t, '%Y-%m-%d %H:%M:%S.%g UTC')`,
      transaction_id: below('transaction', 90000),
      user_name: pick('user', ['authenticator', 'authenticator', 'postgres', 'reporting']),
      virtual_transaction_id: `concat(digits[1], '/', digits[2:5])`,
    },
  },
};
