// @ts-check
/** What made-up rows are made of, by the name of the field. */

/** @type {{ strings: Record<string, string[]>, integers: Record<string, number[]>, messages: Record<string, string[]> }} */
export const WORDS = {
  strings: {
    method: ['GET', 'GET', 'GET', 'POST', 'PATCH', 'DELETE', 'OPTIONS'],
    path: [
      '/rest/v1/todos',
      '/rest/v1/rpc/totals',
      '/auth/v1/token',
      '/storage/v1/object/avatars/ana.png',
      '/realtime/v1/websocket',
    ],
    pathname: ['/hello-world', '/resize-image', '/send-mail'],
    search: ['?select=*', '?limit=10', '?grant_type=password', ''],
    protocol: ['https:'],
    cf_connecting_ip: ['192.0.2.11', '198.51.100.88', '203.0.113.7', '2001:db8::5'],
    remote_addr: ['192.0.2.11', '198.51.100.88'],
    country: ['DE', 'BR', 'IN', 'US'],
    city: ['Berlin', 'São Paulo', 'Pune', 'Portland'],
    user_agent: ['curl/8.9.1', 'okhttp/5.0.0', 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0.0.0'],
    content_type: ['application/json', 'image/png'],
    content_length: ['211', '1143', '52814'],
    level: ['info', 'info', 'warning', 'error'],
    error_severity: ['LOG', 'LOG', 'WARNING', 'ERROR', 'FATAL'],
    sql_state_code: ['00000', '42P01', '28P01'],
    user_name: ['authenticator', 'postgres'],
    backend_type: ['client backend', 'autovacuum worker'],
    application_name: ['psql', 'PostgREST 13.0.4'],
    database_name: ['postgres'],
    query: ['select 1', 'select id, title from public.todos'],
    msg: ['request completed', 'invalid login'],
    action: ['login', 'logout', 'token_refreshed'],
    provider: ['email', 'github'],
    event_type: ['Log', 'Boot', 'Shutdown'],
    region: ['eu-central-1', 'us-east-1'],
    url: ['/object/avatars/ana.png', '/object/list/avatars'],
    version: ['9', '10'],
    role: ['anon', 'authenticated', 'service_role'],
  },
  integers: {
    status_code: [200, 200, 200, 201, 304, 401, 404, 500],
    statusCode: [200, 200, 304, 404, 500],
    status: [200, 200, 400, 422],
    port: [443],
  },
  messages: {
    raw_postgres_logs: ['connection received', 'checkpoint complete', 'relation "todos" does not exist'],
    raw_auth_logs: [
      '{"level":"info","msg":"request completed","path":"/token","status":200}',
      '{"level":"error","msg":"invalid login","path":"/token","status":400}',
    ],
    raw_function_logs: ['booted (time: 32ms)', 'hello world', '{"step":"resize","ok":true}'],
    raw_realtime_logs: ['Billing metrics: [:realtime, :channels]', 'Token has expired'],
    raw_postgrest_logs: ['Schema cache loaded', 'Listening on port 3000'],
    raw_pgbouncer_logs: ['stats: 1444 xacts/s, 756 queries/s', 'closing because: client close request'],
  },
};
