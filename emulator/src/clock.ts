import { parseInstant } from './googlesql/civil';
import { invalid } from './query/error';

/** What the present is for queries: the machine's, or an instant that stands still. */
export class Clock {
  private instant: { readonly text: string; readonly micros: bigint } | null = null;

  /** The instant as it was given; null where time runs. */
  get text(): string | null {
    return this.instant?.text ?? null;
  }

  /** Microseconds since the epoch; null where time runs. */
  get micros(): bigint | null {
    return this.instant?.micros ?? null;
  }

  /** Takes an ISO 8601 instant, or null for the machine's time. Throws `BigQueryError` for any other text. */
  set(text: string | null): void {
    const micros = text === null ? null : parseInstant(text);
    if (text !== null && micros === null) throw invalid(`The clock takes an ISO 8601 instant, not ${text}`);
    this.instant = text === null || micros === null ? null : { text, micros };
  }
}
