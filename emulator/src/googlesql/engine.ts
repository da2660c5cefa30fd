import { bigQueryDialect, MAXIMUM } from './language';
import { EngineProcess, engineFolder } from './process';
import type { Message } from './protocol';
import { EngineRefusal, RpcClient } from './rpc';
import { readTree, type Resolved } from './tree';

/** gRPC's code for a peer that is not there. */
export const UNAVAILABLE = 14;
const START_TIMEOUT = 15_000;

interface Running {
  readonly process: EngineProcess;
  readonly client: RpcClient;
  readonly language: Message;
}

/** Google's GoogleSQL engine, kept running: a process that dies is started again for the next call. */
export class GoogleSqlEngine {
  private running: Promise<Running>;
  private lastPid = 0;
  private stopped = false;
  private starts = 1;

  private constructor(first: Promise<Running>) {
    this.running = first;
  }

  /** Rejects where the package is not installed or has no binary for this machine. */
  static async start(): Promise<GoogleSqlEngine> {
    const engine = new GoogleSqlEngine(launch());
    engine.lastPid = (await engine.running).process.pid;
    return engine;
  }

  /** How often a process was started: what was registered with an earlier one is gone. */
  get generation(): number {
    return this.starts;
  }

  /** The process that runs now, or ran last. */
  get pid(): number {
    return this.lastPid;
  }

  /** BigQuery's language options. */
  async language(): Promise<Message> {
    return (await this.current()).language;
  }

  /** Rejects with `EngineRefusal`; code 14 says that the engine died under the call. */
  call(method: string, request: Message, signal?: AbortSignal): Promise<Message> {
    return this.with(({ client }) => client.call(method, request, signal));
  }

  /** `Analyze`, answered as what the statement says about itself. Rejects with `EngineRefusal`. */
  analyse(request: Message, signal?: AbortSignal): Promise<Resolved> {
    return this.with(async ({ client }) => {
      const reply = await client.analyse(request, signal);
      return readTree(reply['resolved_statement'] as Message, client.decoder);
    });
  }

  /** An engine that cannot be reached is taken for dead, and made so: the next call starts another. */
  private async with<T>(work: (running: Running) => Promise<T>): Promise<T> {
    const running = await this.current();
    try {
      return await work(running);
    } catch (error) {
      if (error instanceof EngineRefusal && error.code === UNAVAILABLE) await running.process.stop();
      throw error;
    }
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
    this.lastPid = running.process.pid;
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
