import { forEachChild, type SyntaxNode, walk } from '../googlesql';
import type { FromItem, Identifier, Parameter, Query, Span } from '../googlesql/syntax';

/** A table that is no CTE where it is named. */
export interface TableRead {
  readonly path: readonly Identifier[];
  readonly span: Span;
  /** The top-level CTE in whose body it stands; null: the final statement. */
  readonly within: string | null;
}

/** Every `@name`, `@@name` and `?` of the query, CTE bodies included, in the order of the text. */
export function parametersOf(query: Query): Parameter[] {
  const found: Parameter[] = [];
  walk(query, (node) => {
    if (node.kind === 'parameter') found.push(node);
  });
  return found;
}

/** Names that mean no table here, folded to lower case. */
interface Scope {
  readonly ctes: ReadonlySet<string>;
  readonly aliases: ReadonlySet<string>;
}

const NOTHING: ReadonlySet<string> = new Set();

/**
 * The real tables that the query reads, by GoogleSQL's scoping: a WITH name is visible to later siblings and to the body,
 * never to itself (but for WITH RECURSIVE) nor to earlier siblings; a path of two or more parts whose first is an alias is
 * an array, no table.
 */
export function tablesReadBy(query: Query): TableRead[] {
  const found: TableRead[] = [];
  const scope: Scope = { ctes: NOTHING, aliases: NOTHING };
  const body = visitWith(query, scope, (entry, seen) => {
    visit(entry.query, seen, (path, span) => found.push({ path, span, within: entry.name.name }));
  });
  visitBody(query, body, (path, span) => found.push({ path, span, within: null }));
  return found;
}

type Report = (path: readonly Identifier[], span: Span) => void;

function visit(node: SyntaxNode, scope: Scope, report: Report): void {
  if (node.kind === 'query') {
    const body = visitWith(node, scope, (entry, seen) => {
      visit(entry.query, seen, report);
    });
    visitBody(node, body, report);
    return;
  }
  if (node.kind === 'table_path') {
    const first = node.path[0]?.name.toLowerCase() ?? '';
    const known = node.path.length > 1 ? scope.aliases : scope.ctes;
    if (!known.has(first)) report(node.path, node.span);
  }
  const inside =
    node.kind === 'select' ? { ...scope, aliases: new Set([...scope.aliases, ...aliasesOf(node.from)]) } : scope;
  forEachChild(node, (child) => {
    visit(child, inside, report);
  });
}

/** Calls back for each entry with the scope of its body, which sees no alias around it; returns the query's own scope. */
function visitWith(
  query: Query,
  { ctes, aliases }: Scope,
  callback: (entry: NonNullable<Query['with']>['entries'][number], scope: Scope) => void,
): Scope {
  const visible = new Set(ctes);
  for (const entry of query.with?.entries ?? []) {
    const name = entry.name.name.toLowerCase();
    if (query.with?.recursive === true) visible.add(name);
    callback(entry, { ctes: new Set(visible), aliases: NOTHING });
    visible.add(name);
  }
  return { ctes: visible, aliases };
}

/** What of a query stands outside its WITH. */
function visitBody(query: Query, scope: Scope, report: Report): void {
  const entries = new Set<SyntaxNode>((query.with?.entries ?? []).map((entry) => entry.query));
  forEachChild(query, (child) => {
    if (!entries.has(child)) visit(child, scope, report);
  });
}

/** Names that the items of one FROM give, folded to lower case. */
function aliasesOf(item: FromItem | null): string[] {
  if (item === null) return [];
  if (item.kind === 'join') return [...aliasesOf(item.left), ...aliasesOf(item.right)];
  if (item.kind === 'parenthesised_join') return aliasesOf(item.item);
  const given = item.alias ?? (item.kind === 'table_path' ? item.path.at(-1) : undefined);
  return given === undefined ? [] : [given.name.toLowerCase()];
}
