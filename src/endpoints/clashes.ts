import type { Definition } from './definition';

/** One file's part in the question who may hold an id or a name. */
export interface Contender {
  readonly file: string;
  /** What it serves now; null: nothing. Among themselves these never clash. */
  readonly serving: Definition | null;
  /** What it would rather serve; null: no change. */
  readonly candidate: Definition | null;
}

export interface Clash {
  readonly file: string;
  readonly line: number;
  readonly reason: string;
}

/**
 * Which candidates have to stand back, and why: two files may not hold one id or one name, and the newcomer yields
 * (of two newcomers the later by file name). A candidate that yields leaves its file with what it serves now, which may
 * then make another candidate yield; several files may thus exchange their names in one go.
 */
export function findClashes(contenders: readonly Contender[]): Map<string, Clash> {
  const refused = new Map<string, Clash>();
  for (;;) {
    const clash = firstClash(contenders, refused);
    if (clash === null) return refused;
    refused.set(clash.file, clash);
  }
}

function firstClash(contenders: readonly Contender[], refused: ReadonlyMap<string, Clash>): Clash | null {
  const holders = new Map<string, Contender>();
  for (const contender of contenders) {
    const held = refused.has(contender.file) ? contender.serving : (contender.candidate ?? contender.serving);
    for (const { key, value } of held?.claims ?? []) {
      const other = holders.get(`${key} ${value}`);
      if (other === undefined) {
        holders.set(`${key} ${value}`, contender);
        continue;
      }
      const [loser, winner] = isNewcomer(contender, key, value) ? [contender, other] : [other, contender];
      const claim = loser.candidate?.claims.find((one) => one.key === key);
      const line = claim === undefined ? 1 : (loser.candidate?.lineOf(claim) ?? 1);
      return { file: loser.file, line, reason: `the ${key} ${value} is already that of ${winner.file}` };
    }
  }
  return null;
}

function isNewcomer({ serving }: Contender, key: string, value: string): boolean {
  return serving?.claims.some((claim) => claim.key === key && claim.value === value) !== true;
}
