/** Generated consumer queries, judged by our gate and by Google's analyser. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Judge } from './judge';
import { ARBITRARY, NEUTRAL, SMUGGLING } from './mutations';
import { Random } from './random';
import { verdictOf } from './verdict';

export interface Report {
  readonly generated: number;
  readonly accepted: number;
  /** Accepted, though the analyser finds something forbidden in it: the wall has a hole. */
  readonly leaks: readonly string[];
  /** A smuggled name was not refused. */
  readonly missed: readonly string[];
  /** A neutral change of an accepted query made it a violation or no query. */
  readonly lost: readonly string[];
  /** One parser reads the text as a query, the other does not. */
  readonly syntax: readonly string[];
  /** We accept what the analyser refuses for its meaning. */
  readonly lenient: readonly string[];
  /** We refuse as a violation what the analyser resolves to allowed names alone. */
  readonly wrongRefusals: readonly string[];
}

interface Tally {
  generated: number;
  accepted: number;
  readonly lists: Readonly<Record<Exclude<keyof Report, 'generated' | 'accepted'>, string[]>>;
}

const BATCH = 200;

/** Neutral, smuggling and arbitrary changes in turn, up to three on top of each other, from accepted queries. */
export async function fuzz(queries: number, seed: number): Promise<Report> {
  const random = new Random(seed);
  const judge = await Judge.start();
  const seeds = corpus().filter((sql) => verdictOf(sql).kind === 'accepted');
  const tally: Tally = {
    generated: 0,
    accepted: 0,
    lists: { leaks: [], missed: [], lost: [], syntax: [], lenient: [], wrongRefusals: [] },
  };
  try {
    while (tally.generated < queries) {
      const batch = Array.from({ length: Math.min(BATCH, queries - tally.generated) }, () => generate(seeds, random));
      await Promise.all(batch.map((one) => check(one, judge, tally)));
    }
  } finally {
    await judge.close();
  }
  return { generated: tally.generated, accepted: tally.accepted, ...tally.lists };
}

interface Generated {
  readonly sql: string;
  readonly kind: 'neutral' | 'smuggled' | 'arbitrary';
}

function generate(seeds: readonly string[], random: Random): Generated {
  let sql = random.pick(seeds);
  for (let n = random.below(3); n > 0; n--) sql = random.pick(NEUTRAL)(sql, random);
  const kind = random.pick(['neutral', 'smuggled', 'arbitrary'] as const);
  if (kind === 'smuggled') {
    const smuggled = random.pick(SMUGGLING)(sql, random);
    if (smuggled !== null) return { sql: smuggled, kind };
  }
  if (kind === 'arbitrary') return { sql: random.pick(ARBITRARY)(sql, random), kind };
  return { sql: random.pick(NEUTRAL)(sql, random), kind: 'neutral' };
}

async function check({ sql, kind }: Generated, judge: Judge, tally: Tally): Promise<void> {
  tally.generated++;
  const verdict = verdictOf(sql);
  const { analysis, forbidden } = await judge.judge(sql);
  const { lists } = tally;
  const note = (why: string): string => `${why}\n    ${JSON.stringify(sql)}`;
  const judged = analysis.ok ? 'resolves' : analysis.refusal.message;

  if (verdict.kind === 'accepted') tally.accepted++;
  if (verdict.kind === 'accepted' && forbidden.length > 0) lists.leaks.push(note(forbidden.join(', ')));
  if (verdict.kind === 'accepted' && kind === 'smuggled') lists.missed.push(note(judged));
  if (kind === 'neutral' && (verdict.kind === 'violation' || verdict.kind === 'syntax')) {
    lists.lost.push(note(verdict.message));
  }
  if (verdict.kind === 'syntax' && (analysis.ok || !analysis.refusal.syntax)) {
    lists.syntax.push(note(`ours: ${verdict.message} theirs: ${judged}`));
  }
  if ((verdict.kind === 'accepted' || verdict.kind === 'meaning') && !analysis.ok && analysis.refusal.syntax) {
    lists.syntax.push(note(`ours: ${verdict.kind} theirs: ${judged}`));
  }
  if (verdict.kind === 'accepted' && !analysis.ok && !analysis.refusal.syntax) lists.lenient.push(note(judged));
  if (verdict.kind === 'violation' && analysis.ok && forbidden.length === 0) {
    lists.wrongRefusals.push(note(verdict.message));
  }
}

function corpus(): string[] {
  const cases = join(__dirname, '../../cases');
  const sandbox = JSON.parse(readFileSync(join(cases, 'sandbox.json'), 'utf8')) as { kind: string; consumer: string }[];
  const queries = readFileSync(join(cases, 'log-queries.jsonl'), 'utf8').trim().split('\n');
  return [
    ...sandbox.filter(({ kind }) => kind === 'accept').map(({ consumer }) => consumer),
    ...queries.map((line) => (JSON.parse(line) as { sql: string }).sql),
  ];
}
