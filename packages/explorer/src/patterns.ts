/** Messages grouped by their template, as Drain does it: He et al., "Drain: An Online Log Parsing Approach with Fixed Depth Tree", 2017. */

export interface Pattern {
  /** Words; null: they differ. */
  readonly template: readonly (string | null)[];
  /** Of each word, whether one blank stands before it in all of the messages. */
  readonly joined: readonly boolean[];
  readonly count: number;
  /** The first message of it. */
  readonly sample: string;
}

interface Group {
  template: (string | null)[];
  joined: boolean[];
  count: number;
  readonly sample: string;
}

/** Words by which messages are told apart first; UTF-16 units and words of a message that are looked at. */
const [DEPTH, LONGEST, MOST_WORDS] = [2, 400, 60];
/** The share of equal words from which two messages are alike. */
const ALIKE = 0.5;
/** Groups of one length and beginning: beyond these a message joins the one most like it. */
const MOST_GROUPS = 100;
/** Words that name one of many: with a digit, an address, a quoted text. */
const VARIABLE = /\d|^["'<[({]|@|^[0-9a-f-]{8,}$/i;

/** The templates of messages, the most frequent first. */
export class Patterns {
  readonly #leaves = new Map<string, Group[]>();

  add(message: string): void {
    const text = message.slice(0, LONGEST).trim();
    const words = text.split(/\s+/).slice(0, MOST_WORDS);
    const joined = [false, ...(text.match(/\s+/g) ?? []).map((blanks) => blanks === ' ')].slice(0, MOST_WORDS);
    const masked = words.map((word) => (VARIABLE.test(word) ? null : word));
    const leaf = `${words.length} ${masked.slice(0, DEPTH).join(' ')}`;
    const groups = this.#leaves.get(leaf) ?? [];
    if (groups.length === 0) this.#leaves.set(leaf, groups);
    let best: Group | null = null;
    let likeness = -1;
    for (const group of groups) {
      const same = masked.reduce((sum, word, i) => sum + (word === (group.template[i] ?? null) ? 1 : 0), 0);
      if (same > likeness) [best, likeness] = [group, same];
    }
    if (best === null || (likeness / words.length < ALIKE && groups.length < MOST_GROUPS)) {
      groups.push({ template: masked, joined, count: 1, sample: message });
      return;
    }
    best.count++;
    best.template = best.template.map((word, i) => (word === masked[i] ? word : null));
    best.joined = best.joined.map((isJoined, i) => isJoined && joined[i] === true);
  }

  get all(): readonly Pattern[] {
    return [...this.#leaves.values()].flat().sort((a, b) => b.count - a.count);
  }
}

/** The clause of LQL that finds messages of a pattern: its longest stretch of words and blanks that do not differ. null: there is none */
export function clauseOf({ template, joined }: Pattern): string | null {
  const stretches = template.reduce<string[]>(
    (all, word, i) => {
      if (word === null || joined[i] !== true) all.push(word ?? '');
      else all.push([all.pop(), word].filter((one) => one).join(' '));
      return all;
    },
    [''],
  );
  const longest = stretches.reduce((best, one) => (one.length > best.length ? one : best), '');
  return longest.length < 3 ? null : `"${longest.replace(/["\\]/g, '\\$&')}"`;
}
