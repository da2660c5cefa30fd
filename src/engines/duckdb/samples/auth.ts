import { between, hex, pick } from './picks';
import { when } from './record';
import type { SampleTable } from './sample-table';
import { PERSON_ID, VISITOR } from './vocabulary';

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
