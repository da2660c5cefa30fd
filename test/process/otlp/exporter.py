"""Sends records with OpenTelemetry's own exporter for Python: exporter.py URL KEY."""

import sys

from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

url, key = sys.argv[1:]
span = SpanContext(0x5B8EFFF798038103D269B633813FC60C, 0xEEE19B7EC3C1B174, False, TraceFlags(1))
context = set_span_in_context(NonRecordingSpan(span))
for name, compression in (("python", Compression.NoCompression), ("python-gzip", Compression.Gzip)):
    provider = LoggerProvider(resource=Resource({"service.name": name, "tenant.id": "abc"}))
    exporter = OTLPLogExporter(endpoint=url, headers={"X-API-KEY": key}, compression=compression)
    provider.add_log_record_processor(BatchLogRecordProcessor(exporter))
    logger = provider.get_logger("scope")
    logger.emit(
        LogRecord(
            timestamp=1_795_341_600_123_456_789,
            context=context,
            severity_number=SeverityNumber.ERROR,
            severity_text="Error",
            event_name="payment.failed",
            body="payment failed",
            attributes={
                "http.response.status_code": 502,
                "ratio": 0.25,
                "tags": ["a", "b"],
                "raw": b"\xff",
                "most": 2**63 - 1,
                "least": -(2**63),
            },
        )
    )
    logger.emit(
        LogRecord(
            timestamp=1_795_341_601_000_000_000,
            severity_number=SeverityNumber.INFO,
            body={"cart": {"items": [1, "two", None]}},
        )
    )
    provider.shutdown()
print("done")
