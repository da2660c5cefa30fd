/** Whole queries held together; one on which the engines differ is compared again over fewer rows. */
import { compared } from '../two-engines';
import { isBroken, type Difference, type Findings } from './difference';
import type { Engines } from './engines';
import { knownReason } from './known';
import type { Query } from './query';

export async function checkQuery(
  engines: Pick<Engines, 'embedded' | 'reference'>,
  findings: Findings,
  query: Query,
  rows: number,
): Promise<void> {
  findings.compared++;
  let ids = Array.from({ length: rows }, (_, i) => i);
  let difference = await differenceOf(engines, findings, query, ids);
  if (difference === null) {
    findings.agreed++;
    return;
  }
  if (knownReason(difference) !== null) {
    findings.add(difference);
    return;
  }
  for (let at = ids.length - 1; at >= 0 && ids.length > 1; at--) {
    const fewer = ids.filter((_, i) => i !== at);
    const found = await differenceOf(engines, null, query, fewer);
    if (found?.kind !== difference.kind || knownReason(found) !== null) continue;
    [ids, difference] = [fewer, found];
  }
  findings.add(difference);
}

async function differenceOf(
  engines: Pick<Engines, 'embedded' | 'reference'>,
  findings: Findings | null,
  query: Query,
  ids: readonly number[],
): Promise<Difference | null> {
  const sql = query.sql(ids);
  const [ours, theirs] = [await engines.embedded(sql), await engines.reference(sql)];
  if ('unsupported' in ours) {
    findings?.refusedByName(ours.unsupported);
    return null;
  }
  if ('unsupported' in theirs) {
    if (!('error' in ours && isBroken(ours.error))) {
      findings?.notCompared(theirs.unsupported);
      return null;
    }
    return { kind: 'broken', of: query.of, sql, embedded: ours.error, reference: theirs.unsupported };
  }
  const words = compared(ours, theirs, query.order);
  if (words === null) return null;
  const kind =
    'error' in ours ? (isBroken(ours.error) ? 'broken' : 'refused') : 'error' in theirs ? 'accepted' : 'rows';
  const text = (outcome: typeof ours): string =>
    ('error' in outcome ? outcome.error : JSON.stringify([outcome.columns, outcome.rows])).slice(0, 2000);
  return { kind, of: query.of, sql, embedded: text(ours), reference: text(theirs) };
}
