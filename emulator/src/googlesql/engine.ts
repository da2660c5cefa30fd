import { bigQueryDialect, MAXIMUM } from './language';
import { EngineProcess, engineFolder } from './process';
import { EngineRefusal, RpcClient, type Message } from './rpc';

const UNAVAILABLE = 14;
const START_TIMEOUT = 15_000;

interface Running {
  readonly process: EngineProcess;
  readonly client: RpcClient;
  readonly language: Message;
}

/** Google's GoogleSQL engine, kept running: a process that dies is started again for the next call. */
export class GoogleSqlEngine {
  private running: Promise<Running>;
  private stopped = false;
  private starts = 1;

  private constructor(first: Promise<Running>) {
    this.running = first;
  }

  /** Rejects where the package is not installed or has no binary for this machine. */
  static async start(): Promise<GoogleSqlEngine> {
    const engine = new GoogleSqlEngine(launch());
    await engine.running;
    return engine;
  }

  /** How often a process was started: what was registered with an earlier one is gone. */
  get generation(): number {
    return this.starts;
  }

  /** BigQuery's language options. */
  async language(): Promise<Message> {
    return (await this.current()).language;
  }

  /** Rejects with `EngineRefusal`; code 14 says that the engine died under the call. */
  async call(method: string, request: Message, signal?: AbortSignal): Promise<Message> {
    const { client } = await this.current();
    return client.call(method, request, signal);
  }

  /** Ends the process; the engine is of no more use. */
  async stop(): Promise<void> {
    this.stopped = true;
    const running = await this.running.catch(() => null);
    running?.client.close();
    await running?.process.stop();
  }

  private async current(): Promise<Running> {
    const promise = this.running;
    const running = await promise.catch((error: unknown) => {
      if (this.running === promise) this.restart();
      throw error;
    });
    if (running.process.alive) return running;
    if (this.running === promise) {
      running.client.close();
      this.restart();
    }
    return this.current();
  }

  private restart(): void {
    if (this.stopped) throw new EngineRefusal(UNAVAILABLE, 'The engine has been stopped');
    this.starts += 1;
    this.running = launch();
    this.running.catch(() => undefined);
  }
}

async function launch(): Promise<Running> {
  const folder = engineFolder();
  if (folder === null) throw new Error('The local BigQuery is not installed: npm ci --prefix emulator');
  for (let attempt = 1; ; attempt++) {
    const process = await EngineProcess.start();
    try {
      const client = await Promise.race([
        RpcClient.connect(folder, process.port, START_TIMEOUT),
        process.ended.then((): never => {
          throw new Error('The GoogleSQL engine ended as it started');
        }),
      ]);
      const language = bigQueryDialect(await client.call('GetLanguageOptions', MAXIMUM));
      return { process, client, language };
    } catch (error) {
      await process.stop();
      if (attempt === 3) throw error;
    }
  }
}
