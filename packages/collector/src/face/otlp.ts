/** Answers to exporters of OpenTelemetry, in protobuf. Loaded with the first of them. */
export { writeResponse, writeStatus } from '../otlp-protobuf';
