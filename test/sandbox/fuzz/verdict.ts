/** The gate's own verdict on a text, without the walls that cost a worker or an engine: what our parser says. */
import { QueryError } from '../../../packages/googlesql/src/errors';
import { surveyQuery, unsupportedError } from '../../../packages/googlesql/src/parser';
import { printQuery } from '../../../packages/googlesql/src/printer';
import { resolveQuery } from '../../../packages/googlesql/src/resolver';
import type { Query } from '../../../packages/googlesql/src/tree';
import { walk } from '../../../packages/googlesql/src/tree-walk';
import { readConsumerQuery } from '../../../packages/googlesql/src/consumer/policy';
import { cteColumns } from './oracle';
import { CTE_TABLES, PARAMETERS } from './stored';

export type Verdict = Reading & {
  /** Whether the text is in pipe syntax; of one that is no query, whether it looks like it. */
  readonly pipes: boolean;
};

type Reading =
  /** `standard`: a query in pipe syntax as it is printed; null for any other. */
  | { readonly kind: 'accepted'; readonly standard: string | null }
  /** No GoogleSQL, or beyond our bounds. */
  | { readonly kind: 'syntax'; readonly message: string }
  | { readonly kind: 'unsupported'; readonly message: string; readonly construct: string }
  | { readonly kind: 'violation'; readonly message: string }
  /** GoogleSQL over allowed names that means nothing: a type, a column. */
  | { readonly kind: 'meaning'; readonly message: string };

const COLUMNS = cteColumns();
const STORED = {
  cteTables: CTE_TABLES,
  parameters: PARAMETERS.map((name) => ({ name, type: 'STRING' as const })),
};

export function verdictOf(sql: string): Verdict {
  const survey = attempt(() => surveyQuery(sql));
  if (survey instanceof QueryError) {
    const kind = survey.fault === 'sandboxViolation' ? 'violation' : 'syntax';
    return { kind, message: survey.message, pipes: looksLikePipes(sql) };
  }
  const pipes = hasPipes(survey.query);
  return { ...verdictOfQuery(survey, sql, pipes), pipes };
}

function verdictOfQuery(survey: ReturnType<typeof surveyQuery>, sql: string, pipes: boolean): Reading {
  const reading = attempt(() => readConsumerQuery({ ...survey, text: sql }, STORED));
  if (reading instanceof QueryError) {
    return { kind: reading.fault === 'sandboxViolation' ? 'violation' : 'meaning', message: reading.message };
  }
  const [construct] = survey.unsupported;
  if (construct !== undefined) {
    return { kind: 'unsupported', message: unsupportedError(construct).message, construct: construct.name };
  }
  const resolved = attempt(() =>
    resolveQuery(survey.query, sql, {
      findTable: ([first, ...rest]) => {
        const columns = rest.length === 0 ? COLUMNS.get(first?.name.toLowerCase() ?? '') : undefined;
        return columns === undefined ? undefined : { name: first?.name ?? '', columns };
      },
      parameters: new Map(PARAMETERS.map((name) => [name, { kind: 'STRING' }])),
    }),
  );
  if (resolved instanceof QueryError) return { kind: 'meaning', message: resolved.message };
  return { kind: 'accepted', standard: pipes ? printQuery(resolved).sql : null };
}

function looksLikePipes(sql: string): boolean {
  return /\|>|(?:^|[()])\s*from\b/i.test(sql);
}

function hasPipes(query: Query): boolean {
  let found = false;
  walk(query, (node) => {
    found ||= node.kind === 'from_query' || (node.kind === 'query' && node.pipes.length > 0);
  });
  return found;
}

function attempt<T>(work: () => T): T | QueryError {
  try {
    return work();
  } catch (error) {
    if (error instanceof QueryError) return error;
    throw error;
  }
}
