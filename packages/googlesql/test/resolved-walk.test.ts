/** Every reader of resolved trees sees every part of every node: held to the declarations of `resolved.ts`. */
import { columnsOfQuery, columnsRead } from '../src/columns-read';
import type { AggregateCall, Expr, Relation, ResolvedQuery } from '../src/resolved';
import {
  callExpressions,
  mapOperands,
  mapRelation,
  operandsOf,
  queriesOf,
  relationExpressions,
  relationsBelow,
  replacing,
  visitQuery,
} from '../src/resolved-walk';
import { fingerprint } from '../src/resolver/grouping';
import { queryCanFail } from '../src/totality';
import { samplesOf, type Sample, type Shapes } from './node-samples';

const span = { start: 0, end: 0 };
const type = { kind: 'STRING' } as const;
const column = (id: number): Expr => ({ kind: 'column', column: { id, name: `c${id}`, type }, type, span });

const SHAPES: Shapes = {
  file: 'packages/googlesql/src/resolved.ts',
  parts: {
    Expr: column,
    Relation: () => ({ kind: 'single_row' }),
    ResolvedQuery: (id) =>
      query({
        kind: 'compute',
        input: { kind: 'single_row' },
        columns: [{ column: { id, name: '', type }, expr: column(id) }],
      }),
  },
  leaves: ['Column', 'Cte', 'OutputColumn'],
};

function query(relation: Relation): ResolvedQuery {
  return { ctes: [], relation, output: [], valueTable: false, ordered: false };
}

const named = (samples: readonly Sample[]): [string, Sample][] => samples.map((sample) => [sample.kind, sample]);
const idsOf = (exprs: readonly object[] = []): number[] =>
  exprs.map((expr) => (expr as Expr & { kind: 'column' }).column.id);

const EXPRESSIONS = named(samplesOf('Expr', SHAPES));
const RELATIONS = named(samplesOf('Relation', SHAPES)).filter(([kind]) => !['table', 'cte'].includes(kind));

describe('the parts of an expression', () => {
  it.each(EXPRESSIONS)('of %s', (_kind, { node, parts }) => {
    expect(operandsOf(node as Expr)).toEqual(parts.Expr ?? []);
    const queries: ResolvedQuery[] = [];
    mapOperands(node as Expr, { expr: (expr) => expr, query: (one) => (queries.push(one), one) });
    expect(queries).toEqual(parts.ResolvedQuery ?? []);
    const all = parts.ResolvedQuery?.flatMap((one) => [...columnsOfQuery(one as ResolvedQuery)]) ?? [];
    const own = (node as Expr).kind === 'column' ? [] : idsOf(parts.Expr);
    if ((node as Expr).kind !== 'column')
      expect([...columnsRead([node as Expr])].sort()).toEqual([...own, ...all].sort());
  });

  it.each(EXPRESSIONS.filter(([kind]) => !['literal', 'parameter', 'column', 'subquery'].includes(kind)))(
    'of %s, each in its fingerprint',
    (_kind, { node, parts }) => {
      const typed = { ...node, type } as Expr;
      const texts = (parts.Expr ?? []).map((part) =>
        fingerprint(replacing((expr) => (expr === part ? column(-1) : undefined)).expr(typed)),
      );
      expect(new Set([...texts, fingerprint(typed)]).size).toBe(texts.length + 1);
    },
  );
});

describe('the parts of calls', () => {
  it.each(named(samplesOf('AggregateCall', SHAPES)))('%s', (_kind, { node, parts }) => {
    expect(callExpressions(node as AggregateCall)).toEqual(parts.Expr);
  });
});

describe('the parts of a relation', () => {
  it('of a scan: none, the query of a CTE is visited where it is defined', () => {
    for (const kind of ['table', 'cte']) {
      const scan = { kind, columns: [], cte: null, table: null } as unknown as Relation;
      expect([relationExpressions(scan), queriesOf(scan), relationsBelow(query(scan))]).toEqual([[], [], [scan]]);
    }
  });

  it.each(RELATIONS)('of %s', (_kind, { node, parts }) => {
    const relation = node as Relation;
    expect([...relationExpressions(relation)].sort()).toEqual([...(parts.Expr ?? [])].sort());
    expect(queriesOf(relation)).toEqual(parts.ResolvedQuery ?? []);
    const below = relationsBelow(query(relation));
    for (const input of parts.Relation ?? []) expect(below).toContain(input);
    for (const inner of parts.ResolvedQuery ?? []) expect(below).toContain((inner as ResolvedQuery).relation);
    expect(below.at(-1)).toBe(relation);
    const visited = new Set<object>();
    visitQuery(query(relation), { expr: (expr) => visited.add(expr), relation: (one) => visited.add(one) });
    for (const part of [...(parts.Expr ?? []), ...(parts.Relation ?? [])]) expect(visited).toContain(part);
    for (const id of idsOf(parts.Expr)) expect(columnsOfQuery(query(relation))).toContain(id);
  });

  it.each(RELATIONS)('of %s, each replaced', (_kind, { node, parts }) => {
    const mapped = mapRelation(node as Relation, {
      expr: () => column(-1),
      relation: () => ({ kind: 'single_row' }),
      query: () => query({ kind: 'single_row' }),
    });
    const texts = JSON.stringify(mapped);
    for (const id of idsOf(parts.Expr)) expect(texts).not.toContain(`"id":${id},`);
    expect(Object.keys(mapped).sort()).toEqual(Object.keys(node).sort());
  });

  it.each(RELATIONS)('of %s, each may fail', (_kind, { node, parts }) => {
    const division: Expr = {
      kind: 'call',
      function: 'ERROR',
      safe: false,
      args: [],
      named: {},
      part: null,
      type,
      span,
    };
    for (const part of parts.Expr ?? []) {
      const failing = replacing((expr) => (expr === part ? division : undefined)).relation(node as Relation);
      expect(queryCanFail(query(failing))).toBe(true);
    }
  });
});
