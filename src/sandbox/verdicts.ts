/**
 * Verdicts that are kept (docs/sandbox.md): by endpoint, revision, engine target and text together, never by
 * text alone, since the same name is a CTE table here and a real table there.
 */
import { LRUCache } from 'lru-cache';
import { QueryError, ServiceError } from '../errors';

interface VerdictKey {
  readonly endpointId: string;
  readonly revision: string;
  readonly target: string;
  /** The bounds of a text depend on who wrote it. */
  readonly from: 'sql' | 'lql';
  /** What runs depends on whom it must tell nothing. */
  readonly fenced: boolean;
  readonly text: string;
}

type Outcome<T> = { readonly accepted: T } | { readonly refused: QueryError | ServiceError };

/** Bytes of keys and composed texts that are kept at the most. */
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_ENTRIES = 10_000;
/** What an entry takes beside its texts: trees of types, error objects. An estimate. */
const ENTRY_OVERHEAD = 1024;

/** What an accepted text takes. */
interface Accepted {
  readonly sql: string;
  readonly pieces: number;
}

function sizeOf({ sql, pieces }: Accepted): number {
  return 2 * sql.length + PIECE * pieces;
}

/** Bytes of a piece of a text that was read leniently. */
const PIECE = 80;

export class Verdicts<T extends Accepted> {
  readonly #cache = new LRUCache<string, Outcome<T>>({
    max: MAX_ENTRIES,
    maxSize: MAX_BYTES,
    sizeCalculation: (outcome, key) =>
      ENTRY_OVERHEAD + 2 * key.length + ('accepted' in outcome ? sizeOf(outcome.accepted) : 0),
  });
  readonly #running = new Map<string, Promise<T>>();

  /**
   * The kept verdict, or that of `check`, which runs once for texts that arrive at the same time of one API key: nobody waits for
   * the turns of another key. Refusals for what the
   * text is are kept; those for a passing state (a deadline, an engine that does not answer) never are.
   */
  async of(
    { endpointId, revision, target, from, fenced, text }: VerdictKey,
    keyName: string,
    check: () => Promise<T>,
  ): Promise<T> {
    const key = JSON.stringify([endpointId, revision, target, from, fenced, text]);
    const cached = this.#cache.get(key);
    if (cached !== undefined) {
      if ('accepted' in cached) return cached.accepted;
      throw cached.refused;
    }
    const running = `${keyName}\n${key}`;
    return this.#running.get(running) ?? this.#check(key, running, check);
  }

  #check(key: string, running: string, check: () => Promise<T>): Promise<T> {
    const verdict = check()
      .then(
        (accepted) => {
          this.#cache.set(key, { accepted });
          return accepted;
        },
        (error: unknown) => {
          if (isLasting(error)) this.#cache.set(key, { refused: error });
          throw error;
        },
      )
      .finally(() => this.#running.delete(running));
    this.#running.set(running, verdict);
    return verdict;
  }
}

/** An unknown field is not one of them: the table may have got it meanwhile. */
const LASTING = new Set(['invalidQuery', 'sandboxViolation']);

/** `resourcesExceeded` is lasting where it is a fault of the text, and passing where it came of the machine. */
function isLasting(error: unknown): error is QueryError | ServiceError {
  if (error instanceof QueryError) return LASTING.has(error.fault) || error.fault === 'resourcesExceeded';
  return error instanceof ServiceError && LASTING.has(error.reason);
}
