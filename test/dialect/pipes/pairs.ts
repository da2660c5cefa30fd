/**
 * Pairs of a query in pipe syntax and its standard form, generated side by side. The standard form is written from BigQuery's
 * reference ("Pipe query syntax") without any of our own code: each operator is one more SELECT around what is before it, and a column
 * that only a table alias reaches travels along under a name of its own.
 */
import type { Random } from '../random';

export interface Pair {
  readonly pipes: string;
  readonly standard: string;
  /** Both fix the order of all rows. */
  readonly ordered: boolean;
}

type Type = 'INT64' | 'STRING';

/** A column as pipe syntax names it, and its name in the standard form. */
interface Column {
  readonly name: string;
  readonly ref: string;
  readonly type: Type;
  /** Of a column that is another one as it is: the name of that. PIVOT and UNPIVOT take both away. */
  readonly origin?: string | undefined;
}

interface Expression {
  readonly pipes: string;
  readonly standard: string;
  readonly type: Type;
  readonly origin?: string | undefined;
}

/** Rows with NULLs and rows that are the same. */
const TABLES = `t AS (SELECT 1 AS a, 'x' AS b, 10 AS c UNION ALL SELECT 1, 'x', 10 UNION ALL SELECT 2, 'y', NULL UNION ALL
  SELECT 3, NULL, 5 UNION ALL SELECT NULL, 'x', 7 UNION ALL SELECT 2, 'Z', -4 UNION ALL SELECT 5, '', 10),
u AS (SELECT 1 AS a, 'one' AS d UNION ALL SELECT 2, 'two' UNION ALL SELECT 2, 'zwei' UNION ALL SELECT NULL, 'none')`;
const SCHEMA: Readonly<Record<string, readonly (readonly [string, Type])[]>> = {
  t: [
    ['a', 'INT64'],
    ['b', 'STRING'],
    ['c', 'INT64'],
  ],
  u: [
    ['a', 'INT64'],
    ['d', 'STRING'],
  ],
};

/** A query of up to ten operators. */
export function randomPair(random: Random): Pair {
  const pair = new PairBuilder(random);
  for (let n = 1 + random.int(9); n > 0; n--) pair.step();
  return pair.finish();
}

class PairBuilder {
  private readonly pipes: string[] = [];
  private standard: string;
  private columns: Column[] = [];
  private aliases = new Map<string, readonly Column[]>();
  /** WITH entries of the standard form. */
  private readonly entries: string[] = [TABLES];
  private names = 0;
  private ordered = false;

  constructor(private readonly random: Random) {
    const table = random.pick(['t', 't', 'u']);
    const alias = random.chance(0.5) ? this.fresh('q') : table;
    this.columns = this.scan(table);
    this.aliases.set(alias, this.columns);
    this.standard = this.scanned(table, this.columns);
    const as = alias === table ? '' : ` AS ${alias}`;
    const start = random.int(4);
    if (start === 0) {
      this.pipes.push(`(SELECT * FROM ${table})${as}`);
      if (alias === table) this.aliases.clear();
    } else if (start === 1) {
      this.pipes.push(`SELECT * FROM ${table}`);
      this.aliases.clear();
    } else this.pipes.push(`FROM ${table}${as}`);
  }

  step(): void {
    const { random } = this;
    const steps = [
      ...[this.where, this.select, this.extend, this.set, this.drop, this.rename, this.as, this.aggregate],
      ...[this.distinct, this.join, this.orderBy, this.limit, this.setOperation, this.pivot, this.unpivot],
      ...[this.with, this.window, this.where, this.extend],
    ];
    random.pick(steps).call(this);
  }

  finish(): Pair {
    const names = this.columns.map(({ name }) => name.toLowerCase());
    // A result has no two columns of one name.
    if (new Set(names).size < names.length || names.includes('')) this.rowsOnly();
    const items = this.columns.map(({ name, ref }) => `${ref} AS ${name}`).join(', ');
    const order = this.ordered ? ` ORDER BY ${this.columns.map(({ ref }) => ref).join(', ')}` : '';
    return {
      pipes: `WITH ${TABLES}\n${this.pipes.join('\n|> ')}`,
      standard: `WITH ${this.entries.join(',\n')}\nSELECT ${items} FROM (${this.standard})${order}`,
      ordered: this.ordered,
    };
  }

  private rowsOnly(): void {
    this.pipes.push('AGGREGATE COUNT(*) AS n');
    this.wrap(['COUNT(*) AS n']);
    this.columns = [{ name: 'n', ref: 'n', type: 'INT64' }];
    this.ordered = false;
  }

  private where(): void {
    const { random } = this;
    if (random.chance(0.3)) {
      const [column] = this.expressions(1, 'INT64');
      if (column === undefined) return;
      const order = random.pick(['', 'DESC']);
      const rank = (text: string): string => `RANK() OVER (ORDER BY ${text} ${order}) < 4`;
      this.pipes.push(`WHERE ${rank(column.pipes)}`);
      const name = this.fresh('w');
      this.standard = `SELECT * EXCEPT (${name}) FROM (SELECT *, ${rank(column.standard)} AS ${name} FROM (${this.standard})) WHERE ${name}`;
    } else {
      const [pipes, standard] = this.condition();
      this.pipes.push(`WHERE ${pipes}`);
      this.standard = `SELECT * FROM (${this.standard}) AS ${this.fresh('s')} WHERE ${standard}`;
    }
    this.ordered = false;
  }

  private select(): void {
    const { random } = this;
    const distinct = random.chance(0.25);
    const windows = !distinct && random.chance(0.2);
    if (random.chance(0.2)) {
      const remaining = this.columns.filter(({ name }) => this.isPlain(name));
      const [out] = remaining;
      if (out === undefined || this.columns.length < 2) return;
      this.pipes.push(`SELECT ${distinct ? 'DISTINCT ' : ''}* EXCEPT (${out.name})`);
      this.columns = this.columns.filter((column) => column !== out);
    } else {
      const items = this.expressions(1 + random.int(3)).map((expression) => ({ ...expression, name: this.fresh('s') }));
      const [first] = items;
      if (first === undefined) return;
      const total = this.fresh('n');
      const list = items.map(({ pipes, name }) => `${pipes}${random.pick([' AS ', ' '])}${name}`);
      const standard = items.map((item) => `${item.standard} AS ${item.name}`);
      if (windows) {
        list.push(`COUNT(*) OVER part AS ${total}`);
        standard.push(`COUNT(*) OVER (PARTITION BY ${first.standard}) AS ${total}`);
      }
      const clause = windows ? ` WINDOW part AS (PARTITION BY ${first.pipes})` : '';
      this.pipes.push(`SELECT ${distinct ? 'DISTINCT ' : ''}${list.join(', ')}${clause}`);
      this.wrap(standard);
      this.columns = items.map(({ name, type, origin }) => ({ name, ref: name, type, origin }));
      if (windows) this.columns.push({ name: total, ref: total, type: 'INT64' });
      if (windows) this.ordered = false;
    }
    this.aliases.clear();
    if (distinct) {
      this.wrap([`DISTINCT ${this.columns.map(({ ref }) => ref).join(', ')}`]);
      this.ordered = false;
    }
    // Only all columns together fix an order that a test can see.
    this.ordered = false;
  }

  private extend(): void {
    const { random } = this;
    const added = this.expressions(1 + random.int(2)).map((expression) => ({ ...expression, name: this.fresh('e') }));
    if (added.length === 0) return;
    this.pipes.push(
      `EXTEND ${added.map(({ pipes, name }) => `${pipes} AS ${name}`).join(', ')}${random.pick(['', ','])}`,
    );
    this.wrap(['*', ...added.map(({ standard, name }) => `${standard} AS ${name}`)]);
    this.columns = [...this.columns, ...added.map(({ name, type, origin }) => ({ name, ref: name, type, origin }))];
    this.ordered = false;
  }

  private window(): void {
    const [by, value] = this.expressions(2, 'INT64');
    if (by === undefined || value === undefined) return;
    const name = this.fresh('w');
    const call = (one: string, two: string): string => `SUM(${two}) OVER (PARTITION BY ${one})`;
    this.pipes.push(`${this.random.pick(['WINDOW', 'EXTEND'])} ${call(by.pipes, value.pipes)} AS ${name}`);
    this.wrap(['*', `${call(by.standard, value.standard)} AS ${name}`]);
    this.columns = [...this.columns, { name, ref: name, type: 'INT64' }];
    this.ordered = false;
  }

  private set(): void {
    const column = this.plainColumn();
    const [value] = this.expressions(1);
    if (column === undefined || value === undefined) return;
    const ref = this.fresh('r');
    this.pipes.push(`SET ${column.name} = ${value.pipes}`);
    this.wrap(['*', `${value.standard} AS ${ref}`]);
    this.columns = this.columns.map((one) =>
      one === column ? { name: one.name, ref, type: value.type, origin: value.origin } : one,
    );
    this.aliases.delete(column.name);
    this.ordered = false;
  }

  private drop(): void {
    const column = this.columns.find(({ name }) => name !== '');
    if (column === undefined) return;
    const left = this.columns.filter(({ name }) => name !== column.name);
    if (left.length === 0) return;
    this.pipes.push(`DROP ${column.name}`);
    this.columns = left;
    this.aliases.delete(column.name);
    this.ordered = false;
  }

  private rename(): void {
    const column = this.plainColumn();
    if (column === undefined || this.aliases.has(column.name)) return;
    const name = this.fresh('r');
    this.pipes.push(`RENAME ${column.name}${this.random.pick([' AS ', ' '])}${name}`);
    this.columns = this.columns.map((one) => (one === column ? { ...one, name } : one));
  }

  private as(): void {
    const alias = this.fresh('q');
    this.pipes.push(`AS ${alias}`);
    this.aliases = new Map([[alias, this.columns]]);
  }

  private aggregate(): void {
    const { random } = this;
    const keys = this.expressions(random.int(3)).map((key) => ({ ...key, name: this.fresh('k') }));
    const aggregates = this.expressions(random.int(keys.length === 0 ? 2 : 3), 'INT64').map(({ pipes, standard }) => {
      const name = random.pick(['SUM', 'MAX', 'COUNT', 'COUNT(DISTINCT']);
      const call = (text: string): string => `${name.includes('(') ? name : `${name}(`} ${text})`;
      const plus = random.chance(0.3) ? ' + 1' : '';
      return { pipes: call(pipes) + plus, standard: call(standard) + plus, name: this.fresh('g') };
    });
    aggregates.push({ pipes: 'COUNT(*)', standard: 'COUNT(*)', name: this.fresh('g') });
    // Keys of ROLLUP that are the same are one column.
    const distinct = new Set(keys.map(({ standard }) => standard)).size === keys.length;
    const rollup = keys.length > 0 && distinct && random.chance(0.2);
    if (rollup) {
      // They have names, too.
      this.pipes.push(`EXTEND ${keys.map(({ pipes, name }) => `${pipes} AS ${name}`).join(', ')}`);
      this.wrap(['*', ...keys.map(({ standard, name }) => `${standard} AS ${name}`)]);
    }
    const names = keys.map(({ name }) => name).join(', ');
    const list = aggregates.map(({ pipes, name }) => `${pipes} AS ${name}`).join(', ');
    const ordered = keys.length > 0 && !rollup && random.chance(0.4);
    const written = rollup ? `ROLLUP(${names})` : keys.map(({ pipes, name }) => `${pipes} AS ${name}`).join(', ');
    const groupBy = keys.length === 0 ? '' : ` GROUP ${ordered ? 'AND ORDER ' : ''}BY ${written}`;
    this.pipes.push(`AGGREGATE ${list}${groupBy === '' ? '' : random.pick(['', ','])}${groupBy}`);
    const items = [...keys.map(({ standard, name }) => (rollup ? name : `${standard} AS ${name}`))];
    items.push(...aggregates.map(({ standard, name }) => `${standard} AS ${name}`));
    const by = rollup ? `ROLLUP(${names})` : keys.map((_, i) => i + 1).join(', ');
    this.standard = `SELECT ${items.join(', ')} FROM (${this.standard}) AS ${this.fresh('s')}${keys.length === 0 ? '' : ` GROUP BY ${by}`}`;
    this.columns = [
      ...keys.map(({ name, type }) => ({ name, ref: name, type })),
      ...aggregates.map(({ name }) => ({ name, ref: name, type: 'INT64' as const })),
    ];
    this.aliases.clear();
    // Groups are distinguished by their keys.
    this.ordered = ordered;
  }

  private distinct(): void {
    this.pipes.push('DISTINCT');
    const remaining = new Set(this.columns.map(({ ref }) => ref));
    this.standard = `SELECT DISTINCT ${[...remaining].join(', ')} FROM (${this.standard})`;
    for (const [alias, columns] of this.aliases)
      this.aliases.set(
        alias,
        columns.filter(({ ref }) => remaining.has(ref)),
      );
    this.ordered = false;
  }

  private join(): void {
    const { random } = this;
    const table = random.pick(['t', 'u']);
    const alias = this.fresh('j');
    const right = this.scan(table);
    const key = this.joinKey(alias, right);
    if (key === undefined) return;
    const type = random.pick(['', 'INNER ', 'LEFT ', 'LEFT OUTER ', 'CROSS ', 'RIGHT ', 'FULL ']);
    const outer = type === 'RIGHT ' || type === 'FULL ';
    const source = random.pick([table, `(SELECT * FROM ${table})`, `(FROM ${table} |> WHERE TRUE)`]);
    const ref = right.find(({ name }) => name === 'a')?.ref ?? '';
    const shared = this.columns.filter(({ name }) => name.toLowerCase() === 'a');
    const left = shared[0];
    const using =
      left !== undefined &&
      shared.length === 1 &&
      !outer &&
      type !== 'CROSS ' &&
      !this.aliases.has('a') &&
      random.chance(0.4);
    const condition = type === 'CROSS ' ? '' : using ? ' USING (a)' : ` ON ${key.pipes} = ${alias}.a`;
    this.pipes.push(`${type}JOIN ${source} AS ${alias}${condition}`);
    const on = type === 'CROSS ' ? '' : ` ON ${using ? left.ref : key.standard} = ${ref}`;
    const sides = `(${this.standard}) AS ${this.fresh('s')} ${type}JOIN (${this.scanned(table, right)}) AS ${this.fresh('s')}`;
    this.standard = `SELECT * FROM ${sides}${on}`;
    this.aliases.set(alias, right);
    if (using) {
      const others = this.columns.filter((column) => column !== left);
      this.columns = [left, ...others, ...right.filter(({ name }) => name !== 'a')];
    } else this.columns = [...this.columns, ...right];
    this.ordered = false;
  }

  private orderBy(): void {
    const named = this.columns.map((column) => this.written(column));
    if (named.some((name) => name === null)) return;
    this.pipes.push(`ORDER BY ${named.join(', ')}`);
    this.ordered = true;
  }

  private limit(): void {
    if (!this.ordered) this.orderBy();
    if (!this.ordered) return;
    const { random } = this;
    const count = random.int(6);
    const offset = random.chance(0.3) ? ` OFFSET ${random.int(3)}` : '';
    this.pipes.push(`LIMIT ${count}${offset}`);
    const refs = this.columns.map(({ ref }) => ref);
    this.standard = `SELECT * FROM (${this.standard}) ORDER BY ${refs.join(', ')} LIMIT ${count}${offset}`;
    // Of rows that are the same in these columns any may be left, with whatever only an alias reaches.
    const remaining = new Set(refs);
    for (const [alias, columns] of this.aliases)
      if (columns.some(({ ref }) => !remaining.has(ref))) this.aliases.delete(alias);
  }

  private setOperation(): void {
    const { random } = this;
    const named = this.columns.every(({ name }, i) => this.columns.findIndex((one) => one.name === name) === i);
    const byName = named && random.chance(0.3);
    const operator = random.pick(['UNION ALL', 'UNION DISTINCT', 'INTERSECT DISTINCT', 'EXCEPT DISTINCT']);
    const literal = (type: Type): string =>
      type === 'INT64' ? random.pick(['1', '2', '10']) : random.pick(["'x'", "'y'"]);
    const values = this.columns.map(({ name, type }) => ({ name, value: literal(type) }));
    const written = byName
      ? values.toReversed().map(({ name, value }) => `${value} AS ${name}`)
      : values.map(({ value }) => value);
    this.pipes.push(`${operator}${byName ? ' BY NAME' : ''} (SELECT ${written.join(', ')})`);
    const fresh = this.columns.map((column) => ({ ...column, ref: this.fresh('u') }));
    const first = this.columns.map(({ ref }, i) => `${ref} AS ${fresh[i]?.ref}`).join(', ');
    this.standard = `SELECT ${first} FROM (${this.standard}) ${operator} SELECT ${values.map(({ value }) => value).join(', ')}`;
    this.columns = fresh;
    this.aliases.clear();
    this.ordered = false;
  }

  private pivot(): void {
    const plain = this.separate();
    const by = plain.find(({ type }) => type === 'STRING');
    const value = plain.find(({ type }) => type === 'INT64');
    const names = this.columns.map(({ name }) => name);
    if (by === undefined || value === undefined || new Set(names).size < names.length) return;
    const [one, two] = [this.fresh('p'), this.fresh('p')];
    const clause = (v: string, b: string): string => `PIVOT(SUM(${v}) FOR ${b} IN ('x' AS ${one}, 'y' AS ${two}))`;
    this.pipes.push(clause(value.name, by.name));
    const refs = this.columns.map(({ ref }) => ref).join(', ');
    this.standard = `SELECT * FROM (SELECT ${refs} FROM (${this.standard})) ${clause(value.ref, by.ref)}`;
    this.columns = this.columns.filter((column) => column !== by && column !== value);
    for (const name of [one, two]) this.columns.push({ name, ref: name, type: 'INT64' });
    this.aliases.clear();
    this.ordered = false;
  }

  private unpivot(): void {
    const plain = this.separate().filter(({ type }) => type === 'INT64');
    const [first, second] = plain;
    if (first === undefined || second === undefined || first.ref === second.ref) return;
    const [value, label, alias] = [this.fresh('v'), this.fresh('l'), this.fresh('q')];
    const nulls = this.random.pick(['', ' INCLUDE NULLS']);
    const clause = (a: string, b: string): string =>
      `UNPIVOT${nulls} (${value} FOR ${label} IN (${a} AS 'one', ${b} AS 'two'))`;
    this.pipes.push(`${clause(first.name, second.name)} AS ${alias}`);
    const refs = [...new Set(this.columns.map(({ ref }) => ref))].join(', ');
    this.standard = `SELECT * FROM (SELECT ${refs} FROM (${this.standard})) ${clause(first.ref, second.ref)}`;
    this.columns = this.columns.filter((column) => column !== first && column !== second);
    this.columns.push({ name: value, ref: value, type: 'INT64' }, { name: label, ref: label, type: 'STRING' });
    this.aliases = new Map([[alias, this.columns]]);
    this.ordered = false;
  }

  private with(): void {
    const name = this.fresh('cte');
    const entry = `${name} AS (SELECT a, COUNT(*) AS d FROM ${this.random.pick(['t', 'u'])} GROUP BY a)`;
    this.pipes.push(`WITH ${entry}${this.random.pick(['', ','])}`);
    this.entries.push(entry);
    const right: Column[] = ['a', 'd'].map((column) => ({ name: column, ref: this.fresh('c'), type: 'INT64' }));
    const key = this.joinKey(name, right);
    if (key === undefined) return;
    this.pipes.push(`LEFT JOIN ${name} ON ${key.pipes} = ${name}.a`);
    const [a, d] = right.map(({ ref }) => ref);
    this.standard = `SELECT * FROM (${this.standard}) AS ${this.fresh('s')} LEFT JOIN (SELECT a AS ${a}, d AS ${d} FROM ${name}) AS ${this.fresh('s')} ON ${key.standard} = ${a}`;
    this.columns = [...this.columns, ...right];
    this.aliases.set(name, right);
    this.ordered = false;
  }

  // ------------------------------------------------------------------------------------------------ parts

  private fresh(prefix: string): string {
    return `${prefix}${++this.names}`;
  }

  private scan(table: string): Column[] {
    return (SCHEMA[table] ?? []).map(([name, type]) => ({ name, ref: this.fresh('c'), type }));
  }

  private scanned(table: string, columns: readonly Column[]): string {
    return `SELECT ${columns.map(({ name, ref }) => `${name} AS ${ref}`).join(', ')} FROM ${table}`;
  }

  private wrap(items: readonly string[]): void {
    this.standard = `SELECT ${items.join(', ')} FROM (${this.standard}) AS ${this.fresh('s')}`;
  }

  /** A name that means one column and nothing else. */
  private isPlain(name: string): boolean {
    return !this.aliases.has(name) && this.columns.filter((one) => one.name === name).length === 1;
  }

  private plainColumn(): Column | undefined {
    const plain = this.columns.filter(({ name }) => this.isPlain(name));
    return plain.length === 0 ? undefined : this.random.pick(plain);
  }

  /** Columns that PIVOT and UNPIVOT can take away alone. */
  private separate(): Column[] {
    const origin = (column: Column): string => column.origin ?? column.ref;
    const once = (column: Column): boolean => this.columns.filter((one) => origin(one) === origin(column)).length === 1;
    return this.columns.filter((column) => this.isPlain(column.name) && once(column));
  }

  private written(column: Column): string | null {
    if (this.isPlain(column.name)) return column.name;
    for (const [alias, columns] of this.aliases)
      if (columns.includes(column) && columns.filter(({ name }) => name === column.name).length === 1)
        return `${alias}.${column.name}`;
    return null;
  }

  /** An expression over what is left of a join, in names that mean the same once its right side is there. */
  private joinKey(alias: string, right: readonly Column[]): Expression | undefined {
    const { columns } = this;
    this.columns = [...columns, ...right];
    this.aliases.set(alias, right);
    const taken = new Set(right.map(({ ref }) => ref));
    const keys = this.named().filter(({ type, standard }) => type === 'INT64' && !taken.has(standard));
    this.columns = columns;
    this.aliases.delete(alias);
    return keys.length === 0 ? undefined : this.random.pick(keys);
  }

  /** Columns that can be named, by themselves and under their aliases. */
  private named(): Expression[] {
    const plain = this.columns.flatMap((column) =>
      this.isPlain(column.name)
        ? [{ pipes: column.name, standard: column.ref, type: column.type, origin: column.origin ?? column.ref }]
        : [],
    );
    const aliased = [...this.aliases].flatMap(([alias, columns]) =>
      columns.flatMap((column) =>
        columns.filter(({ name }) => name === column.name).length === 1
          ? [
              {
                pipes: `${alias}.${column.name}`,
                standard: column.ref,
                type: column.type,
                origin: column.origin ?? column.ref,
              },
            ]
          : [],
      ),
    );
    return [...plain, ...aliased];
  }

  private expressions(count: number, type?: Type): Expression[] {
    const { random } = this;
    const all = this.named().filter((column) => type === undefined || column.type === type);
    if (all.length === 0) return [];
    return Array.from({ length: count }, () => {
      const { pipes, standard, type: of, origin: root } = random.pick(all);
      const change = random.pick<(text: string) => string>(
        of === 'INT64'
          ? [String, String, (x) => `${x} + 1`, (x) => `IFNULL(${x}, 0)`, (x) => `ABS(${x}) * 2`]
          : [String, String, (x) => `UPPER(${x})`, (x) => `CONCAT(${x}, '!')`],
      );
      const origin = change('x') === 'x' ? root : undefined;
      return { pipes: change(pipes), standard: change(standard), type: of, origin };
    });
  }

  private condition(): [pipes: string, standard: string] {
    const { random } = this;
    const [column] = this.expressions(1);
    if (column === undefined) return ['TRUE', 'TRUE'];
    const test = random.pick<(text: string) => string>(
      column.type === 'INT64'
        ? [
            (x) => `${x} > 1`,
            (x) => `${x} IS NOT NULL`,
            (x) => `EXISTS(SELECT 1 FROM (SELECT a AS other FROM u) WHERE other = ${x})`,
          ]
        : [(x) => `${x} != 'x'`, (x) => `${x} IS NULL OR ${x} LIKE '%x%'`, (x) => `LENGTH(${x}) < 3`],
    );
    return [test(column.pipes), test(column.standard)];
  }
}
