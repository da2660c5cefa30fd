/** What of the service can be impaired while it goes on answering (docs/operations.md), each reported by who owns it. */
export const COMPONENTS = [
  'keys_file',
  'token_keys',
  'stored_queries',
  'log',
  'audit_log',
  'searches_file',
  'data_folder',
  'collector',
  'redis',
] as const;

export type Component = (typeof COMPONENTS)[number];

export interface Degradation {
  readonly component: Component;
  /** For the operator: it may name files, tables and endpoints, and never holds a secret or a value. */
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** Takes what is wrong with a component now; null: nothing (any more). */
export type ReportFault = (component: Component, fault: string | null) => void;

/**
 * What is impaired at the moment. Its readers are `/ready` and the metrics; the log is written by who reports, in the same
 * words.
 */
export class Health {
  readonly #degradations = new Map<Component, Degradation>();

  constructor(private readonly now: () => number = Date.now) {}

  readonly report: ReportFault = (component, fault) => {
    if (fault === null) {
      this.#degradations.delete(component);
      return;
    }
    const since = this.#degradations.get(component)?.since ?? this.now();
    this.#degradations.set(component, { component, message: fault, since });
  };

  get degradations(): readonly Degradation[] {
    return [...this.#degradations.values()];
  }
}
