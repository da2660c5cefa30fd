/** Many expressions in one SELECT over some rows, held together value by value; those that differ are made smaller. */
import { isBroken, type Difference, type Findings, type Kind } from './difference';
import type { Engines, Outcome } from './engines';
import { inlined, literal, nodes, replaced, Source, type Expression } from './expression';
import { same } from '../two-engines';
import { VALUES } from './edge-values';

/** A value, or that there is no value but an error. */
type Value = { readonly value: unknown } | { readonly error: string } | { readonly unsupported: string };
/** Rows that an expression is evaluated on. */
export const ROWS = 4;

type Row = Readonly<Record<string, unknown>>;
type Form = 'union' | 'unnest';

export class ScalarCheck {
  constructor(
    private readonly engines: Pick<Engines, 'embedded' | 'reference'>,
    private readonly findings: Findings,
    /** Differences of one class that are made smaller: the rest are only counted. */
    private readonly shrunk = 2,
  ) {}

  /** Holds all values of the expressions together, over `rows` rows. */
  async check(expressions: readonly Expression[], rows: number, form: Form): Promise<void> {
    const ids = Array.from({ length: rows }, (_, i) => i);
    const theirs = await this.referenceValues(expressions, ids, form);
    const ours = await this.embeddedValues(expressions, theirs, ids, form);
    this.findings.compared += expressions.length;
    for (const [i, expression] of expressions.entries()) {
      const found = ids.map((id) => differs(ours[i]?.[id], theirs[i]?.[id])).map((kind, id) => ({ kind, id }));
      const unsupported = ours[i]?.find((value) => value !== undefined && 'unsupported' in value);
      const uncompared = theirs[i]?.find((value) => value !== undefined && 'unsupported' in value);
      if (unsupported !== undefined && 'unsupported' in unsupported)
        this.findings.refusedByName(unsupported.unsupported);
      else if (uncompared !== undefined && 'unsupported' in uncompared)
        this.findings.notCompared(uncompared.unsupported);
      const worst = found.find(({ kind }) => kind !== null);
      if (worst?.kind === undefined || worst.kind === null) {
        this.findings.agreed++;
        continue;
      }
      await this.report(inlined(expression, worst.id), expression, worst.id, worst.kind, form);
    }
  }

  private async report(inline: Expression, expression: Expression, row: number, kind: Kind, form: Form): Promise<void> {
    const key = `${kind} ${expression.name}`;
    const before = this.findings.differences.filter((d) => `${d.kind} ${d.of}` === key).length;
    // As a literal first: simpler to read. Some differ only as a column.
    const alone = await this.compareOne(inline, null);
    if (alone !== null) {
      const smallest =
        before < this.shrunk ? await this.shrink(inline, alone.kind) : { expression: inline, difference: alone };
      this.findings.add(smallest.difference);
      return;
    }
    // Then as a column, of the one row and of all of them.
    for (const rows of [[row], Array.from({ length: ROWS }, (_, i) => i)]) {
      const source = new Source();
      const sql = `SELECT ${source.text(expression)} AS v FROM ${source.from(rows, form)}`;
      const difference = await this.compareOne(expression, sql);
      if (difference !== null) {
        this.findings.add(difference);
        return;
      }
    }
    // ISERROR of the reference sees errors where there are none.
    this.findings.agreed++;
  }

  /** The smallest expression found that differs in the same way. */
  private async shrink(start: Expression, kind: Kind): Promise<{ expression: Expression; difference: Difference }> {
    let best = start;
    let difference = await this.compareOne(start, null);
    if (difference === null) throw new Error('It does not differ any more.');
    let attempts = 80;
    for (let again = true; again;) {
      again = false;
      for (const candidate of smaller(best)) {
        if (attempts-- <= 0) return { expression: best, difference };
        const found = await this.compareOne(candidate, null);
        if (found?.kind !== kind) continue;
        [best, difference, again] = [candidate, found, true];
        break;
      }
    }
    return { expression: best, difference };
  }

  private async compareOne(expression: Expression, query: string | null): Promise<Difference | null> {
    const sql = query ?? `SELECT ${new Source().text(expression)} AS v`;
    const [ours, theirs] = [await this.engines.embedded(sql), await this.engines.reference(sql)];
    const [a, b] = [valueOf(ours), valueOf(theirs)];
    const kind = differs(a, b);
    if (kind === null) return null;
    return { kind, of: expression.name, sql, embedded: shown(a), reference: shown(b) };
  }

  /** By expression, then row. */
  private async referenceValues(
    expressions: readonly Expression[],
    ids: readonly number[],
    form: Form,
  ): Promise<Value[][]> {
    const source = new Source();
    const list = expressions.map((expression, i) => {
      const text = source.text(expression);
      return `ISERROR(${text}) AS e${i}, NULLIFERROR(${text}) AS v${i}`;
    });
    const answer = await this.engines.reference(`SELECT id, ${list.join(', ')} FROM ${source.from(ids, form)}`);
    if ('rows' in answer) {
      const byId = new Map((answer.rows as Row[]).map((row) => [row['id'] as number, row]));
      const types = new Map(answer.columns);
      return expressions.map((_, i) =>
        ids.map((id) =>
          byId.get(id)?.[`e${i}`] === true
            ? { error: 'an error' }
            : { value: { type: types.get(`v${i}`), value: byId.get(id)?.[`v${i}`] } },
        ),
      );
    }
    if (expressions.length === 1) {
      const refusal: Value = 'error' in answer ? { error: answer.error } : answer;
      // An array with a NULL in it fails only as a result, and the query with it.
      if ('error' in answer && ids.length > 1 && /null element/.test(answer.error)) {
        const each = await Promise.all(ids.map((id) => this.referenceValues(expressions, [id], form)));
        return [ids.map((id) => each[ids.indexOf(id)]![0]![0]!)];
      }
      return [ids.map(() => refusal)];
    }
    const middle = expressions.length >> 1;
    return [
      ...(await this.referenceValues(expressions.slice(0, middle), ids, form)),
      ...(await this.referenceValues(expressions.slice(middle), ids, form)),
    ];
  }

  /** What raises no error by the reference is compared for at once; what does, row by row. */
  private async embeddedValues(
    expressions: readonly Expression[],
    theirs: readonly Value[][],
    ids: readonly number[],
    form: Form,
  ): Promise<(Value | undefined)[][]> {
    const values: (Value | undefined)[][] = expressions.map(() => ids.map(() => undefined));
    const whole = [...expressions.keys()].filter((i) => theirs[i]!.every((value) => 'value' in value));
    await this.embeddedOf(expressions, whole, ids, form, values);
    for (const i of expressions.keys()) {
      if (whole.includes(i)) continue;
      const good = ids.filter((id) => 'value' in theirs[i]![id]!);
      const bad = ids.filter((id) => 'error' in theirs[i]![id]!).slice(0, 2);
      if (good.length > 0) await this.embeddedOf(expressions, [i], good, form, values);
      for (const id of bad) await this.embeddedOf(expressions, [i], [id], form, values);
    }
    return values;
  }

  private async embeddedOf(
    expressions: readonly Expression[],
    chosen: readonly number[],
    ids: readonly number[],
    form: Form,
    values: (Value | undefined)[][],
  ): Promise<void> {
    if (chosen.length === 0) return;
    const source = new Source();
    const list = chosen.map((i) => `${source.text(expressions[i]!)} AS v${i}`);
    const answer = await this.engines.embedded(`SELECT id, ${list.join(', ')} FROM ${source.from(ids, form)}`);
    if ('rows' in answer) {
      const types = new Map(answer.columns);
      for (const row of answer.rows as Row[]) {
        for (const i of chosen)
          values[i]![row['id'] as number] = { value: { type: types.get(`v${i}`), value: row[`v${i}`] } };
      }
      return;
    }
    if (chosen.length > 1) {
      const middle = chosen.length >> 1;
      await this.embeddedOf(expressions, chosen.slice(0, middle), ids, form, values);
      await this.embeddedOf(expressions, chosen.slice(middle), ids, form, values);
      return;
    }
    if (ids.length > 1 && 'error' in answer && !isBroken(answer.error)) {
      for (const id of ids) await this.embeddedOf(expressions, chosen, [id], form, values);
      return;
    }
    for (const id of ids) values[chosen[0]!]![id] = answer;
  }
}

function valueOf(outcome: Outcome): Value {
  if (!('rows' in outcome)) return outcome;
  const values = (outcome.rows as Row[]).map((row) => row['v']);
  return { value: { type: outcome.columns[0]?.[1], values } };
}

function shown(value: Value | undefined): string {
  return JSON.stringify(value)?.slice(0, 500) ?? 'nothing';
}

/** What is compared of neither engine, or cannot be judged, is no difference. */
export function differs(ours: Value | undefined, theirs: Value | undefined): Kind | null {
  if (ours === undefined || theirs === undefined) return null;
  if ('error' in ours && isBroken(ours.error)) return 'error' in theirs ? null : 'broken';
  if ('unsupported' in theirs || 'unsupported' in ours) return null;
  if ('error' in ours) return 'error' in theirs ? null : 'refused';
  if ('error' in theirs) return 'accepted';
  return same(ours.value, theirs.value) ? null : 'rows';
}

/** Smaller expressions to try: a part for the whole, a plain literal for a part. */
function* smaller(expression: Expression): Generator<Expression> {
  for (const arg of expression.args) if (VALUES[arg.type] !== undefined) yield arg;
  for (const { node, path } of nodes(expression)) {
    if (path.length === 0) continue;
    for (const inner of node.args) if (inner.type === node.type) yield replaced(expression, path, inner);
    const plain = VALUES[node.type];
    if (plain === undefined) continue;
    const own = node.name === 'literal' ? plain.indexOf(node.write([])) : Infinity;
    for (const text of [plain[0], plain[1]])
      if (text !== undefined && plain.indexOf(text) < own && !(own === -1))
        yield replaced(expression, path, literal(node.type, text));
  }
}
