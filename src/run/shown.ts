import type { EngineResult } from '../engines/contract';
import { redactRows } from '../redaction';
import type { RenderableResult } from '../rendering/render';

/** What of an engine's result the caller may see: with redaction on, masked before anything is rendered or kept. */
export function shownResult(result: EngineResult, redacted: boolean): RenderableResult {
  const columns = result.columns.map(({ name }) => name);
  return { columns, rows: redacted ? redactRows(result.rows) : result.rows, truncated: result.truncated };
}
