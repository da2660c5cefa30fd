import { between, chance, hex, HTTP_DATE, ISO_MILLIS, PERSON_ID, pick, text, uuid, VISITOR, when } from './record';
import type { SampleTable } from './sample-table';

const NAMES = [
  ['send-receipt', 5],
  ['resize-image', 3],
  ['stripe-webhook', 2],
] as const;

/** A function keeps one id. Needs column `name`. */
const FUNCTION_ID = `CAST(CAST(md5(name) AS UUID) AS VARCHAR)`;

export const FUNCTION_EDGE: SampleTable = {
  name: 'raw_function_edge_logs',
  rows: 5_000,
  columns: [
    {
      ...VISITOR,
      name: pick('name', NAMES),
      method: pick('method', [['POST', 6], ['GET', 2], 'OPTIONS']),
      status: `CAST(${pick('status', [
        ['200', 40],
        ['201', 4],
        ['204', 4],
        ['400', 3],
        ['401', 2],
        ['404', 1],
        ['500', 3],
        ['503', 1],
        ['546', 1],
      ])} AS BIGINT)`,
      took: `CASE WHEN ${chance('slow', 10)} THEN ${between('took', 900, 9000)} ELSE ${between('took', 12, 450)} END`,
      version: pick('version', ['7', '8', '8', '9']),
    },
    { host: `concat(project, '.functions.example.com')`, function_id: FUNCTION_ID, person_id: PERSON_ID },
    { url: `concat('https://', host, '/', name)` },
  ],
  message: text('{method} | {status} | {url}'),
  rowProject: false,
  metadata: {
    deployment_id: `concat(project, '_', function_id, '_', version)`,
    execution_id: uuid('execution'),
    execution_time_ms: 'took',
    function_id: 'function_id',
    project_ref: 'project',
    request_id: uuid('request'),
    version: 'version',
    request: {
      host: 'host',
      method: 'method',
      pathname: `concat('/', name)`,
      protocol: `'https:'`,
      url: 'url',
      headers: {
        accept: `'*/*'`,
        content_length: `CAST(${between('sent', 0, 900)} AS VARCHAR)`,
        host: 'host',
        user_agent: 'agent',
        x_client_info: 'library',
      },
      sb: when(chance('sb', 60), {
        auth_user: 'person_id',
        jwt: { authorization: { payload: { algorithm: `'ES256'`, role: `'authenticated'`, subject: 'person_id' } } },
      }),
    },
    response: {
      status_code: 'status',
      headers: {
        content_length: `CAST(${between('received', 0, 2000)} AS VARCHAR)`,
        content_type: `'application/json'`,
        date: HTTP_DATE,
        server: `'edge'`,
        x_sb_edge_region: pick('region', ['eu-central-1', 'us-east-1', 'ap-southeast-1']),
        x_served_by: `'edge-runtime'`,
      },
    },
  },
};

/** Kind of event, level and message. */
const EVENTS: readonly (readonly [string, number])[] = [
  ['Boot|info|booted (time: 41ms)', 4],
  ['Boot|info|booted (time: 68ms)', 2],
  ['Log|log|{"step":"render","ok":true}\n', 5],
  ['Log|info|receipt sent to ada@example.com\n', 4],
  ['Log|warning|retrying after 429 from the mail provider\n', 2],
  [
    "Log|error|TypeError: Cannot read properties of undefined (reading 'id')\n    at handler (file:///src/index.ts:14:22)\n",
    2,
  ],
  ['Shutdown|info|shutdown', 4],
  ['UncaughtException|error|Error: payload is not JSON', 1],
];

export const FUNCTION: SampleTable = {
  name: 'raw_function_logs',
  rows: 5_000,
  columns: [
    {
      name: pick('name', NAMES),
      event: `string_split(${pick('event', EVENTS)}, '|')`,
      version: pick('version', ['8', '9']),
    },
    { function_id: FUNCTION_ID },
  ],
  message: 'event[3]',
  rowProject: false,
  metadata: {
    deployment_id: `concat(project, '_', function_id, '_', version)`,
    event_type: 'event[1]',
    execution_id: uuid('execution'),
    function_id: 'function_id',
    level: 'event[2]',
    project_ref: 'project',
    region: pick('region', ['eu-central-1', 'us-east-1']),
    request_id: `concat(${hex('request', 16)}, '-FRA')`,
    timestamp: ISO_MILLIS,
    version: 'version',
  },
};
