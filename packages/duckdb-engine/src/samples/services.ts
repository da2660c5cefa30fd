import { between, chance, hex, ISO_MILLIS, PERSON_ID, pick, text, VISITOR, when } from './record';
import type { SampleTable } from './sample-table';

/** Level, module, function, message. */
const REALTIME_EVENTS: readonly (readonly [string, number])[] = [
  ['info|Realtime.Telemetry|handle_event/4|Billing metrics: [:realtime, :connections]', 6],
  ['info|Realtime.Replication|init/1|Starting RLS replication for slot rt_1', 3],
  ['info|RealtimeWeb.UserSocket|connect/3|CONNECTED TO RealtimeWeb.UserSocket in 412us', 5],
  ['warning|RealtimeWeb.Channel|handle_in/3|MessagePerSecondRateLimitReached: Too many messages per second', 1],
  ['error|RealtimeWeb.Channel|join/3|InvalidJWTToken: Token has expired 41 seconds ago', 2],
];

export const REALTIME: SampleTable = {
  name: 'raw_realtime_logs',
  rows: 4_000,
  columns: [{ event: `string_split(${pick('event', REALTIME_EVENTS)}, '|')` }],
  message: 'event[4]',
  rowProject: false,
  metadata: {
    context: {
      application: `'realtime'`,
      domain: `['elixir']`,
      file: `concat('lib/', lower(replace(event[2], '.', '/')), '.ex')`,
      function: 'event[3]',
      gl: `concat('<0.', ${between('gl', 1000, 4000)}, '.0>')`,
      line: between('line', 10, 400),
      mfa: `[event[2], string_split(event[3], '/')[1], string_split(event[3], '/')[2]]`,
      module: `concat('Elixir.', event[2])`,
      pid: `concat('<0.', ${between('pid', 1000, 9000)}, '.0>')`,
      time: 'epoch_us(t)',
      vm: { node: `'realtime@node.example.com'` },
    },
    external_id: 'project',
    level: 'event[1]',
    measurements: when(`event[4] LIKE 'Billing%'`, {
      connected: between('connected', 0, 60),
      connected_cluster: between('cluster', 60, 90),
      limit: '200',
      sum: between('sum', 0, 4000),
    }),
    project: 'project',
  },
};

export const STORAGE: SampleTable = {
  name: 'raw_storage_logs',
  rows: 4_000,
  columns: [
    {
      ...VISITOR,
      route: `string_split(${pick('route', [
        ['GET /object/public/avatars/ada.png', 6],
        ['GET /object/public/banners/spring.webp', 3],
        ['POST /object/documents/report.pdf', 2],
        ['POST /object/list/avatars', 2],
        ['DELETE /object/avatars/old.png', 1],
      ])}, ' ')`,
      status: `CAST(${pick('status', [
        ['200', 30],
        ['206', 2],
        ['304', 4],
        ['400', 3],
        ['404', 2],
        ['500', 1],
      ])} AS BIGINT)`,
      ray: `concat(${hex('ray', 16)}, '-FRA')`,
    },
    { method: 'route[1]', path: 'route[2]', host: `concat(project, '.storage.example.com')` },
  ],
  message: text('{method} | {status} | {ip} | {ray} | {path} | {agent}'),
  rowProject: false,
  metadata: {
    context: { host: `concat('storage-', project)`, pid: '1' },
    level: `CASE WHEN status >= 500 THEN 'error' WHEN status >= 400 THEN 'warn' ELSE 'info' END`,
    project: 'project',
    rawError: `CASE WHEN status >= 400 THEN CAST(to_json({'code': 'NoSuchKey', 'resource': path, 'httpStatusCode': status}) AS VARCHAR) END`,
    req: {
      headers: {
        accept: `'*/*'`,
        cf_connecting_ip: 'ip',
        cf_ray: 'ray',
        host: 'host',
        user_agent: 'agent',
        x_client_info: 'library',
        x_forwarded_proto: `'https'`,
      },
      hostname: 'host',
      method: 'method',
      remoteAddress: 'ip',
      remotePort: between('port', 30000, 60000),
      url: 'path',
    },
    reqId: `concat('req-', ${hex('request', 6)})`,
    res: {
      headers: {
        content_length: between('length', 90, 500_000),
        content_type: `CASE WHEN method = 'GET' THEN 'image/png' ELSE 'application/json; charset=utf-8' END`,
      },
      statusCode: 'status',
    },
    responseTime: `${between('took', 30, 9000)} / 8.0`,
    tenantId: 'project',
    timestamp: ISO_MILLIS,
  },
};

export const POSTGREST: SampleTable = {
  name: 'raw_postgrest_logs',
  rows: 2_000,
  columns: [
    {
      said: pick('said', [
        ['Attempting to connect to the database...', 2],
        ['Connection successful', 2],
        ['Schema cache loaded 41 Relations, 17 Relationships, 52 Functions', 3],
        ['Schema cache queried in 23.4 milliseconds', 3],
        ['Received a schema cache reload message on the "pgrst" channel', 2],
        [
          '{"code":"PGRST002","details":null,"hint":null,"message":"Could not query the database for the schema cache. Retrying."}',
          1,
        ],
      ]),
    },
  ],
  message: `concat(strftime(t, '%d/%b/%Y:%H:%M:%S +0000: '), said)`,
  rowProject: true,
  metadata: { host: `concat('db-', project)` },
};

export const PGBOUNCER: SampleTable = {
  name: 'raw_pgbouncer_logs',
  rows: 1_000,
  columns: [
    {
      ...VISITOR,
      said: pick('said', [
        ['login attempt: db=postgres user=authenticator tls=TLSv1.3', 4],
        ['closing because: client close request (age=318s)', 3],
        ['closing because: server lifetime over (age=3600s)', 1],
        ['pooler error: password authentication failed', 1],
      ]),
    },
  ],
  message: `concat('C-0x', ${hex('client', 8)}, ': postgres/authenticator@', ip, ':', ${between('port', 40000, 60000)}, ' ', said)`,
  rowProject: true,
  metadata: { host: `CASE WHEN ${chance('host', 90)} THEN concat('pooler-', project) END` },
};

/** Action, kind, path, method, grant, provider. */
const EVENTS: readonly (readonly [string, number])[] = [
  ['login|account|/token|POST|password|email', 6],
  ['token_refreshed|token|/token|POST|refresh_token|', 8],
  ['login|account|/callback|GET||github', 3],
  ['user_signedup|team|/signup|POST||email', 2],
  ['user_recovery_requested|user|/recover|POST||email', 1],
  ['logout|account|/logout|POST||', 2],
  ['|user|/user|GET||', 5],
];

/** By status: what the service answers. */
const ERROR = `CASE status
  WHEN 400 THEN '400: Invalid login credentials'
  WHEN 401 THEN '401: invalid JWT: token is expired'
  WHEN 422 THEN '422: Signups not allowed for otp'
  WHEN 429 THEN '429: For security purposes, you can only request this after 32 seconds.'
  WHEN 500 THEN '500: Database error querying schema' END`;

export const AUTH: SampleTable = {
  name: 'raw_auth_logs',
  rows: 6_000,
  columns: [
    {
      ...VISITOR,
      event: `list_transform(string_split(${pick('event', EVENTS)}, '|'), lambda x: nullif(x, ''))`,
      status: `CAST(${pick('status', [
        ['200', 40],
        ['204', 3],
        ['302', 3],
        ['400', 4],
        ['401', 2],
        ['422', 1],
        ['429', 1],
        ['500', 1],
      ])} AS BIGINT)`,
      duration: between('duration', 900_000, 240_000_000),
      request_id: `concat(${hex('request', 16)}, '-FRA')`,
    },
    {
      action: 'event[1]',
      person_id: PERSON_ID,
      email: `concat(person, '@example.com')`,
      error: ERROR,
      level: `CASE WHEN status >= 500 THEN 'error' WHEN status >= 400 THEN 'warning' ELSE 'info' END`,
      time: `strftime(t, '%Y-%m-%dT%H:%M:%SZ')`,
    },
  ],
  message: `CAST(to_json({'component': 'api', 'duration': duration, 'error': error, 'grant_type': event[5], 'level': level, 'method': event[4], 'msg': 'request completed', 'path': event[3], 'referer': 'https://app.example.com', 'remote_addr': ip, 'request_id': request_id, 'status': status, 'time': time,
    'auth_event': CASE WHEN status < 400 AND action IS NOT NULL THEN {'action': action, 'actor_id': person_id, 'actor_username': email, 'log_type': event[2], 'traits': {'provider': event[6]}} END}) AS VARCHAR)`,
  rowProject: true,
  metadata: {
    action: 'CASE WHEN status < 400 THEN action END',
    auth_event: when('status < 400 AND action IS NOT NULL', {
      action: 'action',
      actor_id: 'person_id',
      actor_name: 'upper(person[1]) || person[2:]',
      actor_username: 'email',
      actor_via_sso: 'false',
      log_type: 'event[2]',
      traits: when('event[6] IS NOT NULL', { provider: 'event[6]', user_email: 'email', user_id: 'person_id' }),
    }),
    component: `'api'`,
    duration: 'duration',
    error: 'error',
    host: `concat('auth-', project)`,
    level: 'level',
    login_method: `CASE event[5] WHEN 'password' THEN 'password' WHEN 'refresh_token' THEN 'token' END`,
    metering: `CASE WHEN event[5] IS NOT NULL AND status < 400 THEN true END`,
    method: 'event[4]',
    msg: `'request completed'`,
    path: 'event[3]',
    provider: 'event[6]',
    referer: `'https://app.example.com'`,
    remote_addr: 'ip',
    request_id: 'request_id',
    status: 'status',
    time: 'time',
    timestamp: 'time',
    user_id: 'CASE WHEN status < 400 THEN person_id END',
  },
};
