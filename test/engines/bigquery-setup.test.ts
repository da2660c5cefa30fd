import { SETUP_TABLES, type SetupOptions, setupStatements } from '../../src/engines/bigquery/setup';
import { type Ended, logquay } from '../cli/command-line';
import { overOwnLocalBigQuery } from './over-local-bigquery';

function setUp(args: readonly string[], environment: Record<string, string> = {}): Promise<Ended> {
  return logquay(['setup-bigquery', ...args], environment);
}

async function printed(args: readonly string[], environment: Record<string, string> = {}): Promise<string> {
  const { code, out, notes } = await setUp(args, environment);
  expect([code, notes]).toEqual([0, []]);
  return out.join('\n');
}

const OPTIONS: SetupOptions = {
  project: 'test',
  dataset: 'logs',
  location: 'EU',
  serviceAccount: 'gateway@test.iam.gserviceaccount.com',
  keepDays: 90,
  views: new Map([['raw_auth_logs', ['test', 'logs', 'raw_auth_logs']]]),
  logTables: true,
};

describe('the statements', () => {
  const [schema = '', ...rest] = setupStatements(OPTIONS);
  const grant = rest.pop();

  test('make a data set, nine tables or views, and one grant', () => {
    expect(schema).toBe("CREATE SCHEMA IF NOT EXISTS `test`.`logs` OPTIONS (location = 'EU')");
    expect(rest).toHaveLength(9);
    expect(SETUP_TABLES).toHaveLength(9);
    expect(grant).toBe(
      "GRANT `roles/bigquery.dataViewer` ON SCHEMA `test`.`logs` TO 'serviceAccount:gateway@test.iam.gserviceaccount.com'",
    );
  });

  test('tables are partitioned by day, clustered by project where that is a column, and dropped in time', () => {
    const edge = rest.find((statement) => statement.includes('`raw_edge_logs` ('));
    expect(edge).toMatch(/`timestamp` TIMESTAMP NOT NULL,/);
    expect(edge).toMatch(
      /\n\)\nPARTITION BY DATE\(`timestamp`\)\nCLUSTER BY `project`\nOPTIONS \(partition_expiration_days = 90\)$/,
    );
    for (const statement of rest.filter((one) => one.startsWith('CREATE TABLE'))) {
      expect(statement.includes('CLUSTER BY `project`')).toBe(/^ {2}`project` STRING/m.test(statement));
    }
  });
});

describe('the command', () => {
  test('prints what can be pasted, and the role that no statement gives', async () => {
    const text = await printed(['--project', 'acme-logs', '--service-account', 'a@b.example']);
    expect(text.match(/^CREATE /gm)).toHaveLength(10);
    expect(text).toContain('CREATE SCHEMA IF NOT EXISTS `acme-logs`.`logs`;');
    expect(text).toContain(
      '-- ' +
        '  gcloud projects add-iam-policy-binding acme-logs --member=serviceAccount:a@b.example --role=roles/bigquery.jobUser',
    );
    expect(text).not.toContain('partition_expiration_days');
  });

  test.each([
    ['--project', ''],
    ['--project', '--project a`b'],
    ['--dataset', '--project p --dataset a-b'],
    ['--location', "--project p --location EU'"],
    ['--keep-days', '--project p --keep-days 0'],
    ['--service-account', "--project p --service-account x'y"],
    ['TABLE=project.dataset.table', '--project p --view raw_auth_logs'],
    ['the tables are raw_edge_logs', '--project p --view raw_nope=a.b.c'],
    ['--sources', '--project p --sources sources.json'],
    ['--sources', '--project p --from p.1_prod'],
    ['--nonsense', '--nonsense'],
  ])('refuses with %s: %s', async (message, args) => {
    const { code, out, notes } = await setUp(args.split(' ').filter(Boolean));
    expect([code, out]).toEqual([2, []]);
    expect(notes.join('\n')).toContain(message);
  });
});

overOwnLocalBigQuery("Google's own engine", (local) => {
  test.each(setupStatements(OPTIONS).map((statement) => [statement.split('\n')[0], statement] as const))(
    'understands %s',
    async (_, query) => {
      const response = await fetch(`http://${local().host}/bigquery/v2/projects/test/jobs`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ configuration: { dryRun: true, query: { query, useLegacySql: false } } }),
      });
      const job = (await response.json()) as { error?: unknown; statistics?: { query: { statementType: string } } };
      expect(job.error).toBeUndefined();
      expect(job.statistics?.query.statementType).toMatch(/^(CREATE|GRANT)/);
    },
  );

  test('what fails stops the command, in words', async () => {
    // The local BigQuery runs queries alone.
    const { code, notes } = await setUp(['--project', 'test', '--apply'], { BIGQUERY_EMULATOR_HOST: local().host });
    expect(code).toBe(1);
    expect(notes.join('\n')).toMatch(/^CREATE SCHEMA IF NOT EXISTS `test`.`logs`\nBigQuery: /);
    expect((await local().control()).jobs).toHaveLength(1);
  });
});
