/** The engine's side of the conversation with the service's process. */
import type { LineSink } from '../contract/contract';
import type { RowSink } from '../engine/line-stream';
import type { Log } from '../engine/log';
import { toFailure, type FromEngine, type Opening, type ToEngine } from './messages';
import { Flow, LinesFileWriter } from './lines-file';
import { openServing } from './load-serving';
import type { Serving } from './serving';
import { RowsWriter } from './rows-memory';

/** Resolves when the message is on its way: rows are not read faster than they are taken. */
type Send = (message: FromEngine) => Promise<void>;

/** A call that is being answered. */
interface Answering {
  readonly cancel: AbortController;
  readonly flow: Flow;
}

export class Host {
  readonly #calls = new Map<number, Answering>();
  readonly #log = remoteLog((message) => void this.send(message));
  #serving: Serving | null = null;

  constructor(
    private readonly send: Send,
    /** Ends the process. */
    private readonly end: () => void,
  ) {}

  hear(message: ToEngine): void {
    switch (message.kind) {
      case 'open':
        void this.#open(message.opening);
        break;
      case 'call':
        void this.#answer(message);
        break;
      case 'cancel':
        this.#calls.get(message.id)?.cancel.abort();
        break;
      case 'taken':
        this.#calls.get(message.id)?.flow.taken();
        break;
      case 'beat':
        void this.send({ kind: 'beat', resident: process.memoryUsage.rss() });
        break;
      case 'close':
        void this.#close();
    }
  }

  /** Tells what it cannot go on with, and ends. */
  async break(error: unknown): Promise<void> {
    await this.send({ kind: 'broken', failure: toFailure(error) });
    this.end();
  }

  async #open(opening: Opening): Promise<void> {
    try {
      this.#serving = await openServing(opening, this.#log, (status, target) => {
        void this.send({ kind: 'status', status, target });
      });
      const { target, contents, status } = this.#serving;
      if (status !== null) await this.send({ kind: 'status', status, target });
      await this.send({ kind: 'opened', target, contents });
      await this.#serving.opened;
      await this.send({ kind: 'readable' });
    } catch (error) {
      await this.break(error);
    }
  }

  async #answer({ id, request, timeout, keyName, place }: ToEngine & { kind: 'call' }): Promise<void> {
    const cancel = new AbortController();
    const limits = { deadline: performance.now() + timeout, signal: cancel.signal, keyName };
    const flow = new Flow(limits);
    this.#calls.set(id, { cancel, flow });
    let begun = false;
    const writer = new RowsWriter(place);
    const rows: RowSink = {
      begin: () => {
        if (begun) void this.send({ kind: 'again', id });
        begun = true;
        writer.begin();
      },
      take: (lines, count) => (writer.write(lines, count) ? undefined : this.send({ kind: 'rows', id, lines, count })),
    };
    const file = request.kind === 'stream' && request.file !== null ? await LinesFileWriter.open(request.file) : null;
    const lines: LineSink = {
      begin: ({ columns }, form) => void this.send({ kind: 'columns', id, columns, form }),
      take: async (part, count) => {
        await flow.admit();
        await this.send({ kind: 'lines', id, lines: (await file?.write(part)) ?? part, count });
      },
    };
    try {
      if (this.#serving === null) throw new Error('The engine is not open.');
      const answer = await this.#serving.answer(request, limits, { rows, lines });
      await this.send({ kind: 'answer', id, answer, written: writer.written });
    } catch (error) {
      await this.send({ kind: 'failure', id, failure: toFailure(error) });
    } finally {
      await file?.close();
      this.#calls.delete(id);
    }
  }

  /** Nothing is left behind by what is still being opened: it is ended at once. */
  async #close(): Promise<void> {
    for (const { cancel } of this.#calls.values()) cancel.abort();
    await this.#serving?.close();
    this.end();
  }
}

/** Milliseconds between two words about progress. */
const BETWEEN = 100;

/** The log of an engine's process: its lines are written by the service's. */
function remoteLog(send: (message: FromEngine) => void): Log {
  let sentAt = -Infinity;
  return {
    info: (facts, message) => send({ kind: 'log', level: 'info', facts, message }),
    warn: (facts, message) => send({ kind: 'log', level: 'warn', facts, message }),
    error: (facts, message) => send({ kind: 'log', level: 'error', facts, message }),
    progress: (standing) => {
      const now = performance.now();
      if (standing !== null && now - sentAt < BETWEEN) return;
      sentAt = now;
      send({ kind: 'progress', standing });
    },
  };
}
