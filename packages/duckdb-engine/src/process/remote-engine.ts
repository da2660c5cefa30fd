import { availableParallelism } from 'node:os';

import { fairShare, FairSlots } from '../concurrency/fair-slots';
import type { NamedType, TableSchema } from '@logquay/googlesql/types';
import {
  type ArrivedResult,
  type BoundParameter,
  type Engine,
  type EngineQuery,
  type EngineResult,
  type FolderStatus,
  type LineSink,
  resultOf,
  type RunLimits,
  type TableSchemas,
} from '../contract/contract';
import { withinLimits } from '../concurrency/deadline';
import { endingWithSink } from '../engine/ending-with-sink';
import type { Reply } from './call';
import { LinesFile, type PartSink } from './lines-file';
import type { Answers, ArrivedOf, Request } from './messages';
import type { RefusedRequests } from './refused-requests';
import type { Supervisor } from './supervisor';

/** Texts that are planned or described at once, of all and of one key: half of the processors are left to the others. */
const PLANNED_AT_ONCE = { total: 4, perName: Math.min(2, fairShare(availableParallelism())) };
/**
 * A key whose statements take longer to plan than so many milliseconds, next to other keys, plans for a third of the time: another
 * processor at work takes a third of this one's speed (docs/decisions/engine-process.md).
 */
const PAUSE = { beyond: 100, times: 2 };
/** How long planning a consumer's statement may take, in milliseconds: DuckDB cannot be interrupted meanwhile. */
const PLANNING = 2_000;

export interface RemoteEngineOptions {
  /** Holds the data. */
  readonly data: Supervisor;
  /** Holds none: what is planned there for too long costs nobody's query. */
  readonly planning: Supervisor;
  readonly refused: RefusedRequests;
  /** Queries that run at once. */
  readonly connections: number;
  /** Folder of the files that lines of streams come in; null: none can be written. */
  readonly streams: string | null;
  /** Whether it can write files. */
  readonly copies: boolean;
  /** Gives back what the engine was given beside its processes. */
  readonly dispose: () => void;
}

/**
 * The embedded engine in processes of its own. Callers are answered at deadline and signal at the latest, whatever goes on
 * over there; a slot is held until the query has really ended, and nobody's turn may hold all.
 */
export class RemoteEngine implements Engine {
  readonly kind = 'duckdb';
  readonly dryRun = null;
  readonly concurrency: number;
  readonly #slots: FairSlots;
  readonly #planning: FairSlots;

  constructor(private readonly options: RemoteEngineOptions) {
    this.concurrency = options.connections;
    if (options.copies) {
      this.copy = async (query, path, limits) => {
        const { answer } = await this.#call(options.data, { kind: 'copy', query, path }, limits, this.#slots);
        return answer as Answers['copy'];
      };
    }
    this.#slots = new FairSlots({ total: options.connections, perName: fairShare(options.connections) });
    this.#planning = new FairSlots({ ...PLANNED_AT_ONCE, pause: { ...PAUSE, beside: this.#slots } });
  }

  get target(): string {
    return this.options.data.target;
  }

  get opened(): Promise<void> {
    return this.options.data.readable;
  }

  dataStatus(): FolderStatus | null {
    return this.options.data.status;
  }

  async run(query: EngineQuery, limits: RunLimits): Promise<EngineResult> {
    const { answer, lines } = await this.#call(this.options.data, { kind: 'run', query }, limits, this.#slots);
    return resultOf(answer as Answers['run'], lines);
  }

  async stream(query: EngineQuery, limits: RunLimits, sink: LineSink): Promise<boolean> {
    const { data, streams } = this.options;
    const file = streams === null ? null : await LinesFile.create(streams);
    const request = { kind: 'stream', query, file: file?.path ?? null } as const;
    try {
      // What cannot be read ends the run, as what the sink throws does.
      const reading: PartSink = {
        begin: (head, form) => sink.begin(head, form),
        take: async (lines, count) => sink.take(lines instanceof Uint8Array ? lines : await file!.read(lines), count),
      };
      return await endingWithSink(limits, reading, async (own, ending) => {
        const { answer } = await this.#call(data, request, own, this.#slots, ending);
        return answer as Answers['stream'];
      });
    } finally {
      await file?.close();
    }
  }

  /** Missing where its database can open no files. */
  readonly copy?: NonNullable<Engine['copy']>;

  async runArrived(query: EngineQuery, range: ArrivedOf, limits: RunLimits): Promise<ArrivedResult> {
    const request = { kind: 'arrived', query, range } as const;
    const { answer, lines } = await this.#call(this.options.data, request, limits, this.#slots);
    return resultOf(answer as Answers['arrived'], lines);
  }

  async tables(paths: readonly (readonly string[])[], limits: RunLimits): Promise<TableSchemas> {
    const { answer } = await this.#call(this.options.data, { kind: 'tables', paths }, limits, this.#planning);
    return answer as Answers['tables'];
  }

  async describe(sql: string, parameters: readonly BoundParameter[], limits: RunLimits): Promise<readonly NamedType[]> {
    const { data } = this.options;
    const { answer } = await this.#call(data, { kind: 'describe', sql, parameters }, limits, this.#planning);
    return answer as Answers['describe'];
  }

  async inspect(
    statement: string,
    tables: readonly TableSchema[],
    parameters: readonly BoundParameter[],
    limits: RunLimits,
  ): Promise<void> {
    const request = { kind: 'inspect', statement, tables, parameters } as const;
    await this.#call(this.options.planning, request, limits, this.#planning);
  }

  admits(keyName: string): void {
    this.options.refused.checkKey(keyName);
  }

  async ping(limits: RunLimits): Promise<void> {
    await this.#call(this.options.data, { kind: 'ping' }, limits, null);
  }

  /** Bytes in memory, of all processes. */
  get resident(): number {
    return this.options.data.resident + this.options.planning.resident;
  }

  async close(): Promise<void> {
    await Promise.all([this.options.data.close(), this.options.planning.close()]);
    this.options.dispose();
  }

  /**
   * @param slots null: it waits for nobody
   * @param sink takes the rows of a stream
   */
  #call(to: Supervisor, request: Request, limits: RunLimits, slots: FairSlots | null, sink?: PartSink): Promise<Reply> {
    const allowance = request.kind === 'inspect' ? PLANNING : null;
    return withinLimits(
      limits,
      (signal) =>
        new Promise<Reply>((resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
          const own = { ...limits, signal };
          const call = (): Promise<Reply> => {
            // Here, as it may have been refused while it waited.
            this.options.refused.check({ request, keyName: limits.keyName ?? '' });
            return to.call({ request, limits: own, allowance, ...(sink === undefined ? {} : { sink }) });
          };
          (slots === null ? call() : slots.use(limits.keyName ?? '', own, call)).then(resolve, reject);
        }),
    );
  }
}
