/** What a run of generated queries found. */

/** Faults: none of these may be. */
const FAULTS = {
  leaks: 'accepted, though the analyser finds something forbidden in it',
  missed: 'accepted with a smuggled name in it',
  lost: 'a neutral change of an accepted query made it a violation or no query',
  syntax: 'one parser reads it as a query, the other does not',
  canary: 'the embedded engine gave back a row that no consumer may see',
  broken: 'the embedded engine failed in a way that is no answer to a consumer',
} as const;

/** Where both walls hold and opinions differ; counted, so that a change shows. */
const OPINIONS = {
  wrongRefusals: 'refused as a violation, though the analyser resolves it to allowed names alone',
  secondOpinion: 'refused by the second parser or the engine alone',
  lenient: 'accepted, though the analyser refuses it for its meaning',
  strict: 'refused for its meaning, though the analyser resolves it',
} as const;

export type Fault = keyof typeof FAULTS;
export type Opinion = keyof typeof OPINIONS;

/** Texts ofKind of each kind, to look at. */
const MAX_EXAMPLES = 20;

export class Report {
  generated = 0;
  accepted = 0;
  /** Accepted queries that went through the whole gate to the engine, and those that the engine answered with rows. */
  run = 0;
  answered = 0;
  readonly #counts = new Map<Fault | Opinion, number>();
  readonly #examples = new Map<Fault | Opinion, string[]>();
  /** Constructs refused by name, and how often. */
  readonly constructs = new Map<string, number>();
  /** Why the engine would not run an accepted query, and how often. */
  readonly notRun = new Map<string, number>();

  note(kind: Fault | Opinion, why: string, sql: string): void {
    this.#counts.set(kind, this.count(kind) + 1);
    const ofKind = this.#examples.get(kind) ?? [];
    this.#examples.set(kind, ofKind);
    if (ofKind.length < MAX_EXAMPLES) ofKind.push(`${why}\n      ${JSON.stringify(sql)}`);
  }

  count(kind: Fault | Opinion): number {
    return this.#counts.get(kind) ?? 0;
  }

  /** Names of the faults there are. */
  get faults(): Fault[] {
    return (Object.keys(FAULTS) as Fault[]).filter((kind) => this.count(kind) > 0);
  }

  /** The counts, then up to `examples` texts of each kind that there are any of. */
  lines(examples: number): string[] {
    const { generated, accepted, run, answered } = this;
    const lines = [`${generated} generated, ${accepted} accepted, ${run} of them run, ${answered} answered`];
    for (const [kind, meaning] of Object.entries({ ...FAULTS, ...OPINIONS }) as [Fault | Opinion, string][]) {
      lines.push(`${String(this.count(kind)).padStart(6)} ${kind}: ${meaning}`);
      for (const text of (this.#examples.get(kind) ?? []).slice(0, examples)) lines.push(`    - ${text}`);
    }
    lines.push(`refused by name: ${list(this.constructs)}`, `not run: ${list(this.notRun)}`);
    return lines;
  }
}

export function increment(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function list(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, count]) => `${name} ${count}`).join(', ') || 'none';
}
