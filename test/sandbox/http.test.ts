/** The gate as a consumer meets it: the started process, its embedded engine over the fixture. */
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { REJECTED } from '../case-files';
import { Stage } from '../process/started';
import { oneOf } from '../scale';

jest.setTimeout(180_000);

interface Answer {
  readonly status: number;
  readonly body: {
    readonly result?: readonly Record<string, unknown>[];
    readonly error?: { readonly errors: readonly Record<string, unknown>[] };
  };
}

/** Those that are no query, or one with a construct that is refused by its name; all others break the sandbox. */
const NO_QUERY = new Set(
  `param-positional stmt-empty stmt-explain stmt-only-semicolon stmt-show syn-deep-parens syn-for-update syn-garbage
   syn-lateral syn-system-time-cte syn-unterminated syn-values tab-lookalike`.split(/\s+/),
);

const stage = new Stage();
let base: string;

beforeAll(async () => {
  const folder = stage.folder();
  const endpoint = (name: string, id: number, sql: string): void =>
    writeFileSync(
      join(folder, `queries/${name}.sql`),
      `/*\nid: 00000000-0000-4000-8000-00000000000${id}\nname: ${name}\n*/\n${sql}`,
    );
  endpoint('closed.logs', 1, 'WITH a AS (SELECT 1 AS x) SELECT x FROM a');
  // With a sandbox it would not even load: there would be nothing to read.
  endpoint('bare.logs', 2, 'SELECT 1 AS x');
  base = await stage.start({ API_KEY: 'k', CLOCK: '2026-09-30T12:00:00Z' }, folder).ready();
});
afterAll(() => stage.end());

const HEADERS = { 'X-API-KEY': 'k' };

async function post(body: Buffer | string, name = 'logs.all', type = 'application/json'): Promise<Answer> {
  const headers = { ...HEADERS, 'Content-Type': type };
  const response = await fetch(`${base}/api/endpoints/query/${name}`, { method: 'POST', headers, body });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

function ask(parameters: Readonly<Record<string, unknown>>, name?: string): Promise<Answer> {
  return post(JSON.stringify({ project: 'default', ...parameters }), name);
}

/** The query part is sent byte for byte as it is written. */
function get(query: string, name = 'logs.all'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(base);
    const path = `/api/endpoints/query/${name}?${query}`;
    request({ hostname, port, path, headers: HEADERS }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (data: string) => (text += data));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as Answer['body'] }));
    })
      .on('error', reject)
      .end();
  });
}

const fault = ({ body }: Answer): Record<string, unknown> => body.error?.errors[0] ?? {};

describe('every refused example', () => {
  test.each(oneOf(3, REJECTED))('%s', async (id, sql) => {
    const answer = await ask({ sql });
    const [status, reason] = NO_QUERY.has(id) ? [400, 'invalidQuery'] : [403, 'sandboxViolation'];
    expect([answer.status, fault(answer)['reason']]).toEqual([status, reason]);
    expect(fault(answer)).toMatchObject({ line: expect.any(Number) as number, column: expect.any(Number) as number });
    expect(JSON.stringify(answer.body)).not.toMatch(/DuckDB|node_modules|\bat \w+\.js/);
  });
});

describe('which query runs', () => {
  test('an empty sql counts as absent', async () => {
    const stored = await ask({});
    expect(stored.body.result?.length).toBeGreaterThan(1);
    expect((await ask({ sql: '' })).body).toEqual(stored.body);
    expect((await get('project=default&sql=')).body).toEqual(stored.body);
  });

  test('of sql and lql it is sql', async () => {
    const answer = await ask({ sql: 'select 7 as seven', lql: 'this is (no lql' });
    expect(answer).toMatchObject({ status: 200, body: { result: [{ seven: 7 }] } });
    expect((await ask({ sql: '', lql: 'f:auth_logs s:id' })).status).toBe(200);
  });

  test.each([
    ['closed.logs', 'sql', 'select 1 as x'],
    ['closed.logs', 'lql', 'id:x'],
    ['bare.logs', 'sql', 'select 1 as x'],
    ['bare.logs', 'lql', 'id:x'],
  ])('%s answers %s with a refusal that names it, never with its stored result', async (name, parameter, text) => {
    const answer = await ask({ [parameter]: text }, name);
    expect(answer.status).toBe(400);
    expect(answer.body.result).toBeUndefined();
    expect(JSON.stringify(answer.body.error)).toMatch(/closed\.logs|bare\.logs/);
  });
});

describe('a text that is long enough to be read on a thread', () => {
  const long = (sql: string): string => `-- ${'x'.repeat(2_000)}\n${sql}`;
  const place = ({ body }: Answer): Record<string, unknown> => {
    const { reason, message, line, column, near } = body.error?.errors[0] ?? {};
    return { reason, message, line, column, near };
  };

  test.each(oneOf(6, REJECTED).filter(([, sql]) => sql.trim() !== ''))(
    '%s is refused in the same words, a line further down',
    async (_id, sql) => {
      const [short, answer] = [await ask({ sql }), await ask({ sql: long(sql) })];
      expect(answer.status).toBe(short.status);
      expect(place(answer)).toEqual({ ...place(short), line: Number(fault(short)['line']) + 1 });
    },
  );
});

describe('bad bytes', () => {
  test.each(["select 'open", 'select """open', 'select `open', '/* open', "select r'\\'", "select b'\\xZ'"])(
    '%j is a literal, name or comment that nothing closes, or a bad escape',
    async (sql) => {
      const answer = await ask({ sql });
      expect([answer.status, fault(answer)['reason']]).toEqual([400, 'invalidQuery']);
    },
  );

  test('NUL', async () => {
    const answer = await ask({ sql: 'select \0 from edge_logs' });
    expect([answer.status, fault(answer)['column']]).toEqual([400, 8]);
    expect((await get('project=default&sql=select%00')).status).toBe(400);
  });

  test.each(['\\ud800', 'a\\udc00', '\\udc00\\ud800'])('a lone surrogate, %s', async (escaped) => {
    const answer = await post(`{"project":"default","sql":"select '${escaped}' as x"}`);
    expect([answer.status, fault(answer)['parameter']]).toEqual([400, 'sql']);
  });

  test.each(['%ff', '%c0%af', '%ed%a0%80', '%e2%82', '%'])('no UTF-8, %s', async (bytes) => {
    expect((await get(`project=default&sql=select%20'${bytes}'`)).status).toBe(400);
  });

  test('no UTF-8 in a body', async () => {
    const body = Buffer.concat([
      Buffer.from('{"project":"default","sql":"select \''),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('\'"}'),
    ]);
    expect((await post(body)).status).toBe(400);
  });

  test.each(['x', '(', "'", '/*', 'select ', '[', 'é', '1+'])('a megabyte of %j', async (unit) => {
    const sql = unit.repeat(Math.floor(1_000_000 / Buffer.byteLength(unit)));
    const answer = await ask({ sql });
    expect([400, 413]).toContain(answer.status);
    expect(fault(answer)['reason']).toBeDefined();
    expect((await ask({ sql: 'select 1 as alive' })).status).toBe(200);
  });
});
