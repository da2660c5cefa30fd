import { OpinionTimeout, SecondOpinion } from '../../src/sandbox/second-opinion';

describe('the second opinion', () => {
  let opinion: SecondOpinion;

  beforeEach(() => {
    opinion = new SecondOpinion();
  });

  afterEach(() => opinion.close());

  test('names tables, array paths and functions in lower case', async () => {
    const sql =
      'with a as (select * from Edge_Logs) select count(*), safe.substr(id, 1), net.host(id), upper(id) from a, a.metadata as m, unnest(m.request) r where exists(select 1 from `x.y`)';
    const { tables, functions } = (await opinion.ask(sql)) ?? { tables: [], functions: [] };
    expect([...tables].sort()).toEqual(['a', 'a.metadata', 'edge_logs', 'x.y']);
    expect([...functions].sort()).toEqual(['count', 'exists', 'net.host', 'safe.substr', 'upper']);
  });

  test('has no vote on what it cannot read', async () => {
    expect(await opinion.ask('select extract(hour from timestamp at time zone "UTC") from edge_logs')).toBeNull();
  });

  test('is given up past its deadline, and the next text is read by a new worker', async () => {
    const hurried = new SecondOpinion({ deadline: 50 });
    try {
      const nested = `select ${'cast('.repeat(24)}1${' as string)'.repeat(24)} as x from edge_logs`;
      await expect(hurried.ask(nested)).rejects.toThrow(OpinionTimeout);
      expect(await hurried.ask('select id from edge_logs')).toEqual({ tables: ['edge_logs'], functions: [] });
    } finally {
      await hurried.close();
    }
  });

  test('reads others while one text keeps a worker busy', async () => {
    const nested = `select ${'cast('.repeat(24)}1${' as string)'.repeat(24)} as x from edge_logs`;
    const slow = opinion.ask(nested).catch((error: unknown) => error);
    const quick = await Promise.all(Array.from({ length: 20 }, (_, i) => opinion.ask(`select ${i} from edge_logs`)));
    expect(quick.every((one) => one?.tables[0] === 'edge_logs')).toBe(true);
    expect(await slow).toBeInstanceOf(OpinionTimeout);
  });

  test('refuses once it is closed', async () => {
    await opinion.close();
    await expect(opinion.ask('select 1')).rejects.toThrow('closed');
  });
});
