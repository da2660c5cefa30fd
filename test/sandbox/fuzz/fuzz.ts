/** Generated consumer queries, theirs by our gate, by Google's analyser and, in part, by what the embedded engine answers. */
import { lex } from '../../../packages/googlesql/src/lexer';
import { rewriteLeniently } from '../../../packages/googlesql/src/consumer/lenient';
import { corpus, generate, type Generated } from './generate';
import { Oracle, type Analyses } from './oracle';
import { Random } from './random';
import { increment, Report } from './report';
import { Runner } from './runner';
import { verdictOf, type Verdict } from './verdict';

/** Texts that are with the oracle at once. */
const IN_FLIGHT = 4;
/** Of the accepted queries every so-manieth is run. */
const RUN_EACH = 20;

/** `progress` hears how many were theirs, now and then. */
export async function fuzz(
  queries: number,
  seed: number,
  progress: (done: number) => void = () => {},
): Promise<Report> {
  const random = new Random(seed);
  const [oracle, runner] = await Promise.all([Oracle.start(), Runner.start()]);
  const seeds = corpus().filter((sql) => verdictOf(sql).kind === 'accepted');
  const report = new Report();
  const work = async (): Promise<void> => {
    while (report.generated < queries) {
      report.generated++;
      if (report.generated % 1000 === 0) progress(report.generated);
      await checkBoth(generate(seeds, random), oracle, runner, report);
    }
  };
  try {
    await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  } finally {
    await Promise.all([oracle.close(), runner.close()]);
  }
  return report;
}

/** The text as it is and, where it is no query, what the lenient reading makes of it. */
async function checkBoth(generated: Generated, oracle: Oracle, runner: Runner, report: Report): Promise<void> {
  const verdict = await check(generated, oracle, runner, report);
  if (verdict.kind !== 'syntax') return;
  const rewritten = leniently(generated.sql);
  if (rewritten !== null) await check({ kind: generated.kind, sql: rewritten }, oracle, runner, report);
}

async function check(
  { sql, standard, kind }: Generated,
  oracle: Oracle,
  runner: Runner,
  report: Report,
): Promise<Verdict> {
  const verdict = verdictOf(sql);
  // What an edit put into pipe syntax, the analyser cannot read: it gets what our own reading makes of it.
  const analysed = standard ?? (verdict.kind === 'accepted' ? verdict.standard : null);
  if (analysed === null && verdict.pipes) return verdict;
  const analyses = await oracle.analyse(analysed ?? sql);
  const { analysis, forbidden } = analyses;
  const theirs = analysis.ok ? 'resolves' : analysis.refusal.message;
  if (verdict.kind === 'unsupported') increment(report.constructs, verdict.construct);
  const dispute = await syntaxDispute(verdict, analyses, oracle, analysed ?? sql);
  if (dispute) report.note('syntax', `ours: ${said(verdict)} theirs: ${theirs}`, sql);
  if (kind === 'neutral' && (verdict.kind === 'violation' || verdict.kind === 'syntax')) {
    report.note('lost', verdict.message, sql);
  }
  if (verdict.kind === 'violation' && analysis.ok && forbidden.length === 0) {
    report.note('wrongRefusals', verdict.message, sql);
  }
  if (verdict.kind === 'meaning' && analysis.ok && forbidden.length === 0) report.note('strict', verdict.message, sql);
  if (verdict.kind !== 'accepted') return verdict;

  report.accepted++;
  if (forbidden.length > 0) report.note('leaks', forbidden.join(', '), sql);
  if (kind === 'smuggled') report.note('missed', theirs, sql);
  if (!analysis.ok && !dispute) report.note('lenient', theirs, sql);
  if (report.accepted % RUN_EACH === 0) await runner.run(sql, report);
  return verdict;
}

/** One parser takes the text for a query, the other does not. What resolves is a query to both. */
async function syntaxDispute(verdict: Verdict, { analysis }: Analyses, oracle: Oracle, sql: string): Promise<boolean> {
  if (verdict.kind === 'violation' || verdict.kind === 'unsupported') return false;
  if (analysis.ok) return verdict.kind === 'syntax';
  if (verdict.kind === 'syntax') return !analysis.refusal.syntax && (await oracle.parses(sql));
  // What follows the statement is for the gate to refuse, behind what is wrong in it.
  return analysis.refusal.syntax && !(verdict.kind === 'meaning' && lex(sql).some(({ kind }) => kind === 'rest'));
}

function said(verdict: Verdict): string {
  return verdict.kind === 'accepted' ? 'accepted' : verdict.message;
}

function leniently(sql: string): string | null {
  try {
    const rewritten = rewriteLeniently(sql);
    if (rewritten === null) return null;
    lex(rewritten.text);
    return rewritten.text;
  } catch {
    return null;
  }
}
