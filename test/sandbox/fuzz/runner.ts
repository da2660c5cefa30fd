/** Accepted queries through the whole gate to the embedded engine, where every table holds a row that no answer may show. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceError } from '../../../src/errors';
import { restFieldsOf } from '../../../packages/duckdb-engine/test/fields';
import { FIXTURE, openFixture } from '../../../packages/duckdb-engine/test/fixture-engine';
import { Consumer } from '../consumer';
import { increment, type Report } from './report';

const CANARY = 'canary-4f1d';
/** What a query over the wrong values may end with. */
const ANSWERS = new Set(['invalidQuery', 'resourcesExceeded']);

export class Runner {
  private constructor(
    private readonly consumer: Consumer,
    private readonly folder: string,
  ) {}

  static async start(): Promise<Runner> {
    const folder = mkdtempSync(join(tmpdir(), 'logquay-fuzz-'));
    const dataDir = join(folder, 'data');
    cpSync(FIXTURE, dataDir, { recursive: true });
    plantCanaries(dataDir);
    const cacheDir = join(folder, 'cache');
    return new Runner(await Consumer.over(await openFixture({ dataDir, cacheDir, threads: 1 })), folder);
  }

  async run(sql: string, report: Report): Promise<void> {
    report.run++;
    try {
      const { rows } = await this.consumer.sql(sql);
      report.answered++;
      if (rows.some((row) => row.includes(CANARY))) report.note('canary', 'the canary came back', sql);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const { reason, message } = error;
      if (message.includes(CANARY)) report.note('canary', 'the canary is in a message', sql);
      if (reason === 'sandboxViolation') report.note('secondOpinion', message, sql);
      else if (!ANSWERS.has(reason)) report.note('broken', `${reason}: ${message}`, sql);
      else increment(report.notRun, message.replace(/"[^"]*"|[`'][^`']*[`']|\d+/g, '…'));
    }
  }

  async close(): Promise<void> {
    await this.consumer.close();
    rmSync(this.folder, { recursive: true });
  }
}

/** A row of another tenant in every log table, and a table that no endpoint reads. */
function plantCanaries(folder: string): void {
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.ndjson'))) {
    const text = readFileSync(join(folder, file), 'utf8');
    const row = JSON.parse(text.slice(0, text.indexOf('\n'))) as Record<string, unknown>;
    const tenant = { project: CANARY };
    const metadata = (row['metadata'] as object[]).map((m) => ({ ...m, ...tenant, project_ref: CANARY }));
    const planted = { ...row, id: CANARY, event_message: CANARY, metadata, ...('project' in row ? tenant : {}) };
    writeFileSync(join(folder, file), `${text}${JSON.stringify(planted)}\n`);
  }
  const schemaFile = join(folder, 'schema.json');
  const schema = JSON.parse(readFileSync(schemaFile, 'utf8')) as Record<string, unknown>;
  const outside = { fields: restFieldsOf('id STRING, event_message STRING') };
  writeFileSync(schemaFile, JSON.stringify({ ...schema, billing_events: outside }));
  writeFileSync(join(folder, 'billing_events.ndjson'), JSON.stringify({ id: CANARY, event_message: CANARY }));
}
