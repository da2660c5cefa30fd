import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';

import type { Log } from '../log';

type Export = OTLPTraceExporter['export'];
type Result = Parameters<Parameters<Export>[1]>[0];

/** `ExportResultCode.SUCCESS`, of a library that this one brings along. */
const SUCCESS = 0;

/** Sends spans to a collector, and logs when it begins to fail and when it takes them again. */
export class CollectorExporter extends OTLPTraceExporter {
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
