// @ts-check
/** Sends records with OpenTelemetry's own exporters for Node: `exporters.js URL KEY`. */
const { ROOT_CONTEXT, diag, DiagConsoleLogger, DiagLogLevel, trace } = require('@opentelemetry/api');
const http = require('@opentelemetry/exporter-logs-otlp-http');
const proto = require('@opentelemetry/exporter-logs-otlp-proto');
const { CompressionAlgorithm } = require('@opentelemetry/otlp-exporter-base');
const { resourceFromAttributes } = require('@opentelemetry/resources');
const { BatchLogRecordProcessor, LoggerProvider } = require('@opentelemetry/sdk-logs');

const [, , url = '', key = ''] = process.argv;
// What an exporter complains of goes to the standard output.
diag.setLogger(new DiagConsoleLogger(), DiagLogLevel.WARN);

const span = { traceId: '5b8efff798038103d269b633813fc60c', spanId: 'eee19b7ec3c1b174', traceFlags: 1 };
const context = trace.setSpanContext(ROOT_CONTEXT, span);

/**
 * @param {string} name
 * @param {typeof http.OTLPLogExporter | typeof proto.OTLPLogExporter} Exporter
 * @param {import('@opentelemetry/otlp-exporter-base').CompressionAlgorithm} compression
 */
async function send(name, Exporter, compression) {
  const exporter = new Exporter({ url, headers: { 'X-API-KEY': key }, compression });
  const resource = resourceFromAttributes({ 'service.name': name, 'tenant.id': 'abc' });
  const provider = new LoggerProvider({ resource, processors: [new BatchLogRecordProcessor({ exporter })] });
  const logger = provider.getLogger('scope');
  logger.emit({
    context,
    timestamp: [1_795_341_600, 123_456_789],
    severityNumber: 17,
    severityText: 'Error',
    eventName: 'payment.failed',
    body: 'payment failed',
    attributes: {
      'http.response.status_code': 502,
      ratio: 0.25,
      tags: ['a', 'b'],
      empty: null,
      raw: new Uint8Array([255]),
    },
  });
  logger.emit({ timestamp: [1_795_341_601, 0], severityNumber: 9, body: { cart: { items: [1, 'two', null] } } });
  await provider.forceFlush();
  await provider.shutdown();
}

async function main() {
  await send('json', http.OTLPLogExporter, CompressionAlgorithm.NONE);
  await send('json-gzip', http.OTLPLogExporter, CompressionAlgorithm.GZIP);
  await send('protobuf', proto.OTLPLogExporter, CompressionAlgorithm.NONE);
  await send('protobuf-gzip', proto.OTLPLogExporter, CompressionAlgorithm.GZIP);
}

void main();
