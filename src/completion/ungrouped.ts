/** Where rows are grouped, a column that is no key of theirs is there and cannot be named. */
import { typesByName } from '../engines/bound-parameter';
import { QueryError } from '../errors';
import { surveyQuery } from '../googlesql/parser';
import { surveyMeaning } from '../googlesql/resolver';
import type { Query, Span } from '../googlesql/syntax';
import { walk } from '../googlesql/syntax-walk';
import type { Completion, WrittenText } from './completion';

/** Completions that are tried, one reading of the text each. */
const MOST_TRIED = 60;

const WRAPPER = 'TO_JSON_STRING(';

export function isGrouped(query: Query): boolean {
  let grouped = false;
  walk(query, (node) => {
    grouped ||= node.kind === 'select' && (node.groupBy !== null || node.having !== null);
    return !grouped;
  });
  return grouped;
}

/** Without those that the query may not name at the cursor; in a text that is no query yet all are left in. */
export function withoutUngrouped(
  all: readonly Completion[],
  { text, span }: { readonly text: string; readonly span: Span },
  { tables, parameters }: Pick<WrittenText, 'tables' | 'parameters'>,
): readonly Completion[] {
  const byName = new Map(tables.map((table) => [table.name.toLowerCase(), table]));
  const environment = {
    findTable: (path: readonly { readonly name: string }[]) =>
      path.length === 1 ? byName.get(path[0]?.name.toLowerCase() ?? '') : undefined,
    parameters: typesByName(parameters),
  };
  return all.slice(0, MOST_TRIED).filter(({ insert, also }) => {
    // As an argument, which may be of any type.
    const { tried, at } = applied(text, span, `${WRAPPER}${insert})`, also);
    try {
      const { faults } = surveyMeaning(surveyQuery(tried).query, tried, environment);
      return !faults.some(
        ({ details, span: wrong }) => details.note?.code === 'ungrouped' && covers(wrong, at + WRAPPER.length),
      );
    } catch (error) {
      if (error instanceof QueryError) return true;
      throw error;
    }
  });
}

function applied(
  text: string,
  { start, end }: Span,
  insert: string,
  also: Completion['also'],
): { readonly tried: string; readonly at: number } {
  if (also === undefined) return { tried: text.slice(0, start) + insert + text.slice(end), at: start };
  if (also.at <= start) {
    const front = text.slice(0, also.at) + also.insert + text.slice(also.at, start);
    return { tried: front + insert + text.slice(end), at: front.length };
  }
  return {
    tried: text.slice(0, start) + insert + text.slice(end, also.at) + also.insert + text.slice(also.at),
    at: start,
  };
}

function covers(span: Span | null, at: number): boolean {
  return span !== null && span.start <= at && at < span.end;
}
