/** OpenTelemetry's libraries are loaded with this file, which is therefore imported only where traces are asked for. */
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import type { Log } from '../log';
import { setTimeout as sleep } from 'node:timers/promises';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import type { Secret, TracingConfig } from '../config';
import { VERSION } from '../version';
import { RequestSpans, type Tracing } from './request-spans';

type Export = OTLPTraceExporter['export'];
type Result = Parameters<Parameters<Export>[1]>[0];

/** `ExportResultCode.SUCCESS`, of a library that this one brings along. */
const SUCCESS = 0;

/** Sends spans to a collector, and logs when it begins to fail and when it takes them again. */
class CollectorExporter extends OTLPTraceExporter {
  #failing = false;

  constructor(
    options: ConstructorParameters<typeof OTLPTraceExporter>[0],
    private readonly log: Log,
  ) {
    super(options);
  }

  override export(spans: Parameters<Export>[0], done: Parameters<Export>[1]): void {
    super.export(spans, (result) => {
      this.#watch(result);
      done(result);
    });
  }

  #watch({ code, error }: Result): void {
    const failing = (code as number) !== SUCCESS;
    if (failing === this.#failing) return;
    this.#failing = failing;
    if (failing)
      this.log.warn({ failure: failureOf(error) }, 'the collector takes no traces; they are dropped until it does');
    else this.log.info('the collector takes traces again');
  }
}

/** A code of the system or a status of HTTP; of what a collector answers beside that, nothing. */
function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const code = 'code' in error ? error.code : undefined;
  return typeof code === 'string' || typeof code === 'number' ? String(code) : error.message;
}

/** Spans that wait for the collector; what comes on top of that is dropped. Those of one call of it. */
const MOST_WAITING = 4096;
const BATCH = 512;

/** Milliseconds that spans wait for others at most, that one call may take, and that the last ones may take at the end. */
const LONGEST_WAIT = 1000;
const CALL_TIMEOUT = 5000;
const LAST_CALL = 1000;

/** Traces to a collector that speaks OTLP over HTTP. It may be down or hang: nothing but spans is lost. */
export function openTracing({ collector, headers, serviceName, begun }: TracingConfig, log: Log): Tracing {
  const exporter = new CollectorExporter(
    { url: `${collector}/v1/traces`, headers: readHeaders(headers), timeoutMillis: CALL_TIMEOUT },
    log,
  );
  const processor = new BatchSpanProcessor(exporter, {
    maxQueueSize: MOST_WAITING,
    maxExportBatchSize: BATCH,
    scheduledDelayMillis: LONGEST_WAIT,
    exportTimeoutMillis: 2 * CALL_TIMEOUT,
  });
  const named = { 'service.name': serviceName, 'service.version': VERSION };
  const provider = new BasicTracerProvider({
    resource: defaultResource().merge(resourceFromAttributes(named)),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(begun) }),
    spanProcessors: [processor],
  });
  const spans = new RequestSpans(provider.getTracer('logquay', VERSION));
  log.info({ collector: new URL(collector).origin }, 'traces go to a collector');
  return {
    record: (request, parent, state) => spans.record(request, parent, state),
    async close() {
      const sent = provider.shutdown().then(
        () => true,
        () => false,
      );
      const late = sleep(LAST_CALL, false, { ref: false });
      if (!(await Promise.race([sent, late]))) log.warn('the collector did not take the last traces; they are dropped');
    },
  };
}

/** `NAME=VALUE` with commas between, values percent-encoded; config.ts has checked that. */
function readHeaders(headers: Secret | null): Record<string, string> {
  const pairs = headers?.reveal().split(',') ?? [];
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name = '', value = ''] = /^([^=]+)=(.*)$/.exec(pair.trim()) ?? [];
      return [name, decodeURIComponent(value)];
    }),
  );
}
