import type { EngineResult } from '../engines/contract';
import type { Key } from '../keys/key';

/** What a run tells in headers about an answer that nothing keeps. */
export function answerHeaders(result: EngineResult, key: Key): Record<string, string> {
  return {
    'Cache-Control': 'private, no-cache',
    'Cache-Status': 'logquay; fwd=miss',
    ...billing(result, key),
  };
}

/** How many bytes were read tells of rows behind a key's fence: a key with pins does not learn it. */
function billing({ bytesProcessed, bytesBilled }: EngineResult, key: Key): Record<string, string> {
  if (key.pins.size > 0) return {};
  return {
    ...(bytesProcessed === null ? {} : { 'X-Query-Bytes-Processed': String(bytesProcessed) }),
    ...(bytesBilled === null ? {} : { 'X-Query-Bytes-Billed': String(bytesBilled) }),
  };
}
