import { createRequire } from 'node:module';
import { join } from 'node:path';
import { PartialDecoder } from './partial-decoder';
import type { Message, ProtocolDefinition } from './protocol';

/** What the engine answered to a call it refused. `code` is gRPC's: 3 invalid argument, 11 out of range, 12 unimplemented, 14 unavailable. */
export class EngineRefusal extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
    this.name = 'EngineRefusal';
  }
}

type Call = (
  request: Message,
  metadata: unknown,
  options: { deadline?: number },
  done: (error: { code: number; details: string } | null, reply: Message) => void,
) => { cancel(): void };

interface Stub {
  makeUnaryRequest(
    path: string,
    serialize: (request: Message) => Buffer,
    deserialize: (bytes: Buffer) => Buffer,
    request: Message,
    metadata: unknown,
    options: object,
    done: (error: { code: number; details: string } | null, reply: Buffer) => void,
  ): { cancel(): void };
  waitForReady(deadline: number, done: (error?: Error) => void): void;
  close(): void;
}

/** The parts of the gRPC packages in use. They live in this folder's own node_modules, which a type check of the service must not need. */
interface GrpcPackage {
  credentials: { createInsecure(): unknown };
  Metadata: new () => unknown;
  loadPackageDefinition(definition: unknown): {
    zetasql: {
      local_service: {
        ZetaSqlLocalService: new (address: string, credentials: unknown, options: Record<string, number>) => Stub;
      };
    };
  };
}
interface LoaderPackage {
  loadSync(file: string, options: Record<string, unknown>): ProtocolDefinition;
}

const SERVICE = 'zetasql.local_service.ZetaSqlLocalService';
interface Method {
  readonly path: string;
  readonly requestSerialize: (request: Message) => Buffer;
}

const load = createRequire(__filename);

const CHANNEL = { 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 };

/** The gRPC client of one engine process. */
export class RpcClient {
  private constructor(
    private readonly stub: Stub,
    private readonly metadata: unknown,
    private readonly analyze: Method,
    /** Reads what `analyse` answers. */
    readonly decoder: PartialDecoder,
  ) {}

  /** Resolves when the engine on `port` answers; rejects after `timeout` milliseconds. */
  static async connect(folder: string, port: number, timeout: number): Promise<RpcClient> {
    const grpc = load('@grpc/grpc-js') as GrpcPackage;
    const loader = load('@grpc/proto-loader') as LoaderPackage;
    const definition = loader.loadSync('local_service.proto', {
      includeDirs: [join(folder, 'protos')],
      keepCase: true,
      longs: String,
      enums: String,
      defaults: false,
      oneofs: true,
    });
    const { ZetaSqlLocalService } = grpc.loadPackageDefinition(definition).zetasql.local_service;
    const stub = new ZetaSqlLocalService(`localhost:${port}`, grpc.credentials.createInsecure(), CHANNEL);
    await new Promise<void>((resolve, reject) =>
      stub.waitForReady(Date.now() + timeout, (error) => (error ? reject(error) : resolve())),
    ).catch((error: unknown) => {
      stub.close();
      throw error;
    });
    const methods = definition[SERVICE] as unknown as Readonly<Record<'Analyze', Method>>;
    return new RpcClient(stub, new grpc.Metadata(), methods.Analyze, new PartialDecoder(definition));
  }

  /** Calls `method`; aborting `signal` gives the call up. Rejects with `EngineRefusal`. */
  call(method: string, request: Message, signal?: AbortSignal): Promise<Message> {
    return new Promise((resolve, reject) => {
      const call = (this.stub as unknown as Record<string, Call>)[method];
      if (call === undefined) throw new Error(`The engine has no method ${method}`);
      const running = call.call(this.stub, request, this.metadata, {}, (error, reply) => {
        signal?.removeEventListener('abort', abort);
        if (error === null) resolve(reply);
        else reject(new EngineRefusal(error.code, error.details));
      });
      const abort = () => running.cancel();
      signal?.addEventListener('abort', abort, { once: true });
      if (signal?.aborted) abort();
    });
  }

  /** `Analyze`, its answer read leanly. Rejects with `EngineRefusal`. */
  analyse(request: Message, signal?: AbortSignal): Promise<Message> {
    return new Promise((resolve, reject) => {
      const { path, requestSerialize } = this.analyze;
      const whole = (bytes: Buffer) => bytes;
      const running = this.stub.makeUnaryRequest(
        path,
        requestSerialize,
        whole,
        request,
        this.metadata,
        {},
        (error, reply) => {
          signal?.removeEventListener('abort', abort);
          if (error !== null) reject(new EngineRefusal(error.code, error.details));
          // In a promise: what an answer of any depth makes of the decoder ends this query, not the process.
          else resolve(Promise.resolve(reply).then((bytes) => this.decoder.decode('AnalyzeResponse', bytes)));
        },
      );
      const abort = () => running.cancel();
      signal?.addEventListener('abort', abort, { once: true });
      if (signal?.aborted) abort();
    });
  }

  close(): void {
    this.stub.close();
  }
}
