import { parseRestSchema, type RestField } from '@logquay/googlesql/types';

/** A leaf's type; `[type]`: REPEATED; an object: a REPEATED RECORD, which is how the log pipeline stores every record. */
type Leaf = 'STRING' | 'INTEGER' | 'FLOAT' | 'BOOLEAN' | 'TIMESTAMP';
interface Shape {
  readonly [name: string]: Leaf | readonly [Leaf] | Shape;
}

/** What the gateway in front has seen of a request's keys and tokens. */
const API_KEYS_SEEN: Shape = {
  auth_user: 'STRING',
  apikey: {
    apikey: {
      error: 'STRING',
      hash: 'STRING',
      prefix: 'STRING',
    },
  },
  jwt: {
    apikey: {
      invalid: 'STRING',
      payload: {
        algorithm: 'STRING',
        expires_at: 'INTEGER',
        issuer: 'STRING',
        role: 'STRING',
        signature_prefix: 'STRING',
        subject: 'STRING',
      },
    },
    authorization: {
      invalid: 'STRING',
      payload: {
        algorithm: 'STRING',
        expires_at: 'INTEGER',
        issuer: 'STRING',
        key_id: 'STRING',
        role: 'STRING',
        session_id: 'STRING',
        signature_prefix: 'STRING',
        subject: 'STRING',
      },
    },
  },
};

/** By CTE; the table is `raw_<name>`. */
const SHAPES: Readonly<Record<string, Shape>> = {
  edge_logs: {
    timestamp: 'TIMESTAMP',
    id: 'STRING',
    event_message: 'STRING',
    project: 'STRING',
    identifier: 'STRING',
    metadata: {
      load_balancer_redirect_identifier: 'STRING',
      request: {
        host: 'STRING',
        method: 'STRING',
        path: 'STRING',
        protocol: 'STRING',
        search: 'STRING',
        url: 'STRING',
        headers: {
          cf_connecting_ip: 'STRING',
          cf_ipcountry: 'STRING',
          cf_ray: 'STRING',
          content_length: 'STRING',
          referer: 'STRING',
          user_agent: 'STRING',
          x_client_info: 'STRING',
          x_real_ip: 'STRING',
          accept: 'STRING',
          host: 'STRING',
          x_forwarded_proto: 'STRING',
        },
        cf: {
          asOrganization: 'STRING',
          asn: 'INTEGER',
          city: 'STRING',
          colo: 'STRING',
          continent: 'STRING',
          country: 'STRING',
          httpProtocol: 'STRING',
          isEUCountry: 'STRING',
          metroCode: 'STRING',
          region: 'STRING',
          timezone: 'STRING',
          tlsVersion: 'STRING',
          botManagement: {
            detectionIds: ['INTEGER'],
            score: 'INTEGER',
            verifiedBot: 'BOOLEAN',
            corporateProxy: 'BOOLEAN',
            ja3Hash: 'STRING',
            staticResource: 'BOOLEAN',
          },
          tlsClientAuth: {
            certVerified: 'STRING',
            certPresented: 'STRING',
            certRevoked: 'STRING',
          },
          clientAcceptEncoding: 'STRING',
          clientTcpRtt: 'INTEGER',
          clientTrustScore: 'INTEGER',
          edgeRequestKeepAliveStatus: 'INTEGER',
          latitude: 'STRING',
          longitude: 'STRING',
          postalCode: 'STRING',
          regionCode: 'STRING',
          tlsCipher: 'STRING',
          tlsExportedAuthenticator: {
            clientFinished: 'STRING',
            clientHandshake: 'STRING',
            serverFinished: 'STRING',
            serverHandshake: 'STRING',
          },
        },
        sb: API_KEYS_SEEN,
      },
      response: {
        origin_time: 'INTEGER',
        status_code: 'INTEGER',
        headers: {
          cf_cache_status: 'STRING',
          cf_ray: 'STRING',
          content_length: 'STRING',
          content_type: 'STRING',
          date: 'STRING',
          proxy_status: 'STRING',
          sb_gateway_mode: 'STRING',
          x_sb_error_code: 'STRING',
          content_location: 'STRING',
          content_range: 'STRING',
          sb_gateway_version: 'STRING',
          transfer_encoding: 'STRING',
          x_kong_proxy_latency: 'STRING',
        },
      },
      logflare_worker: {
        worker_id: 'STRING',
      },
    },
  },
  postgres_logs: {
    timestamp: 'TIMESTAMP',
    id: 'STRING',
    event_message: 'STRING',
    project: 'STRING',
    identifier: 'STRING',
    metadata: {
      host: 'STRING',
      parsed: {
        application_name: 'STRING',
        backend_type: 'STRING',
        command_tag: 'STRING',
        connection_from: 'STRING',
        context: 'STRING',
        database_name: 'STRING',
        detail: 'STRING',
        error_severity: 'STRING',
        hint: 'STRING',
        internal_query: 'STRING',
        leader_pid: 'INTEGER',
        process_id: 'INTEGER',
        query: 'STRING',
        query_id: 'INTEGER',
        session_id: 'STRING',
        session_line_num: 'INTEGER',
        session_start_time: 'STRING',
        sql_state_code: 'STRING',
        timestamp: 'STRING',
        transaction_id: 'INTEGER',
        user_name: 'STRING',
        virtual_transaction_id: 'STRING',
      },
    },
  },
  function_edge_logs: {
    timestamp: 'TIMESTAMP',
    id: 'STRING',
    event_message: 'STRING',
    project: 'STRING',
    metadata: {
      deployment_id: 'STRING',
      execution_id: 'STRING',
      execution_time_ms: 'INTEGER',
      function_id: 'STRING',
      project_ref: 'STRING',
      request_id: 'STRING',
      version: 'STRING',
      request: {
        host: 'STRING',
        method: 'STRING',
        pathname: 'STRING',
        port: 'INTEGER',
        protocol: 'STRING',
        search: 'STRING',
        url: 'STRING',
        headers: {
          accept: 'STRING',
          accept_encoding: 'STRING',
          connection: 'STRING',
          content_length: 'STRING',
          cookie: 'STRING',
          host: 'STRING',
          user_agent: 'STRING',
          x_client_info: 'STRING',
        },
        sb: API_KEYS_SEEN,
      },
      response: {
        status_code: 'INTEGER',
        headers: {
          content_length: 'STRING',
          content_type: 'STRING',
          date: 'STRING',
          server: 'STRING',
          vary: 'STRING',
          x_sb_compute_multiplier: 'STRING',
          x_sb_edge_region: 'STRING',
          x_sb_resource_multiplier: 'STRING',
          x_served_by: 'STRING',
        },
      },
    },
  },
  function_logs: {
    timestamp: 'TIMESTAMP',
    id: 'STRING',
    event_message: 'STRING',
    project: 'STRING',
    metadata: {
      deployment_id: 'STRING',
      event_type: 'STRING',
      execution_id: 'STRING',
      function_id: 'STRING',
      level: 'STRING',
      project_ref: 'STRING',
      region: 'STRING',
      request_id: 'STRING',
      timestamp: 'STRING',
      version: 'STRING',
    },
  },
  auth_logs: {
    timestamp: 'TIMESTAMP',
    id: 'STRING',
    event_message: 'STRING',
    project: 'STRING',
    metadata: {
      action: 'STRING',
      args: ['STRING'],
      auth_event: {
        action: 'STRING',
        actor_id: 'STRING',
        actor_name: 'STRING',
        actor_username: 'STRING',
        actor_via_sso: 'BOOLEAN',
        log_type: 'STRING',
        traits: {
          channel: 'STRING',
          provider: 'STRING',
          user_email: 'STRING',
          user_id: 'STRING',
          user_phone: 'STRING',
        },
      },
      client_id: 'STRING',
      component: 'STRING',
      duration: 'INTEGER',
      error: 'STRING',
      factor_id: 'STRING',
      header: 'STRING',
      host: 'STRING',
      instance_id: 'STRING',
      issuer: 'STRING',
      level: 'STRING',
      login_method: 'STRING',
      message: 'STRING',
      metering: 'BOOLEAN',
      method: 'STRING',
      msg: 'STRING',
      path: 'STRING',
      project: 'STRING',
      provider: 'STRING',
      referer: 'STRING',
      remote_addr: 'STRING',
      request_id: 'STRING',
      source_type: 'STRING',
      status: 'INTEGER',
      time: 'STRING',
      timestamp: 'STRING',
      user_id: 'STRING',
    },
  },
  realtime_logs: {
    timestamp: 'TIMESTAMP',
    id: 'STRING',
    event_message: 'STRING',
    project: 'STRING',
    metadata: {
      context: {
        application: 'STRING',
        domain: ['STRING'],
        file: 'STRING',
        function: 'STRING',
        gl: 'STRING',
        line: 'INTEGER',
        mfa: ['STRING'],
        module: 'STRING',
        pid: 'STRING',
        time: 'INTEGER',
        vm: {
          node: 'STRING',
        },
      },
      external_id: 'STRING',
      level: 'STRING',
      measurements: {
        connected: 'INTEGER',
        connected_cluster: 'INTEGER',
        limit: 'INTEGER',
        sum: 'INTEGER',
      },
      project: 'STRING',
    },
  },
  storage_logs: {
    timestamp: 'TIMESTAMP',
    id: 'STRING',
    event_message: 'STRING',
    project: 'STRING',
    metadata: {
      context: {
        host: 'STRING',
        pid: 'INTEGER',
      },
      level: 'STRING',
      project: 'STRING',
      rawError: 'STRING',
      req: {
        hostname: 'STRING',
        method: 'STRING',
        remoteAddress: 'STRING',
        remotePort: 'INTEGER',
        url: 'STRING',
        headers: {
          accept: 'STRING',
          cf_connecting_ip: 'STRING',
          cf_ray: 'STRING',
          content_length: 'STRING',
          content_type: 'STRING',
          host: 'STRING',
          referer: 'STRING',
          user_agent: 'STRING',
          x_client_info: 'STRING',
          x_forwarded_proto: 'STRING',
        },
      },
      reqId: 'STRING',
      res: {
        statusCode: 'INTEGER',
        headers: {
          content_length: 'INTEGER',
          content_type: 'STRING',
        },
      },
      responseTime: 'FLOAT',
      tenantId: 'STRING',
      timestamp: 'STRING',
    },
  },
  postgrest_logs: {
    timestamp: 'TIMESTAMP',
    id: 'STRING',
    event_message: 'STRING',
    project: 'STRING',
    identifier: 'STRING',
    metadata: {
      host: 'STRING',
    },
  },
  pgbouncer_logs: {
    timestamp: 'TIMESTAMP',
    id: 'STRING',
    event_message: 'STRING',
    project: 'STRING',
    file: 'STRING',
    metadata: {
      host: 'STRING',
    },
  },
};

/** Columns that every log row has. */
const REQUIRED = new Set(['timestamp', 'id']);

/**
 * The raw tables behind `logs.all` and `usage.api-counts`: what is known of a table for which `schema.json` says nothing,
 * so that an empty or missing table still knows its fields. Where sources disagree about a type (auth's `status` and
 * `duration` come as numbers and as text) it is the number: the loader reads digits in text as one.
 */
export const LOG_SCHEMA: ReadonlyMap<string, readonly RestField[]> = new Map(
  Object.entries(SHAPES).map(([name, shape]) => [
    `raw_${name}`,
    parseRestSchema(
      restFields(shape).map((field) => (REQUIRED.has(field.name) ? { ...field, mode: 'REQUIRED' } : field)),
      `raw_${name}`,
    ),
  ]),
);

interface RestForm {
  readonly name: string;
  readonly type: string;
  readonly mode: string;
  readonly fields?: readonly RestForm[];
}

function restFields(shape: Shape): RestForm[] {
  return Object.entries(shape).map(([name, what]) => {
    if (typeof what === 'string') return { name, type: what, mode: 'NULLABLE' };
    if (isLeafList(what)) return { name, type: what[0], mode: 'REPEATED' };
    return { name, type: 'RECORD', mode: 'REPEATED', fields: restFields(what) };
  });
}

function isLeafList(what: readonly [Leaf] | Shape): what is readonly [Leaf] {
  return Array.isArray(what);
}

/** Records of OpenTelemetry, which the collector takes in (docs/data.md). */
const OTEL_LOGS = parseRestSchema(
  [
    { name: 'timestamp', type: 'TIMESTAMP', mode: 'REQUIRED' },
    { name: 'observed_timestamp', type: 'TIMESTAMP' },
    { name: 'project', type: 'STRING' },
    { name: 'trace_id', type: 'STRING' },
    { name: 'span_id', type: 'STRING' },
    { name: 'severity_text', type: 'STRING' },
    { name: 'severity_number', type: 'INTEGER' },
    { name: 'body', type: 'STRING' },
    { name: 'service_name', type: 'STRING' },
    { name: 'resource_attributes', type: 'JSON' },
    { name: 'scope_name', type: 'STRING' },
    { name: 'log_attributes', type: 'JSON' },
    { name: 'event_name', type: 'STRING' },
  ],
  'otel_logs',
);

/** The tables of a data folder of which something is known where its `schema.json` says nothing. */
export const DECLARED_TABLES: ReadonlyMap<string, readonly RestField[]> = new Map([
  ...LOG_SCHEMA,
  ['otel_logs', OTEL_LOGS],
]);
