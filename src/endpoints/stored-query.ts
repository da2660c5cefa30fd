import type { Identifier, Parameter, Query, Span } from '../googlesql/syntax';

/** A table that is no CTE where it is named. */
export interface TableRead {
  readonly path: readonly Identifier[];
  readonly span: Span;
  /** The top-level CTE in whose body it stands; null: the final statement. */
  readonly within: string | null;
}

/** Every node below and including `root` that has a kind, in the order of the text. */
function* nodes(root: unknown): Generator<{ readonly kind: string }> {
  if (typeof root !== 'object' || root === null) return;
  if ('kind' in root && typeof root.kind === 'string') yield root as { readonly kind: string };
  for (const value of Object.values(root)) yield* nodes(value);
}

/** Every `@name`, `@@name` and `?` of the query, CTE bodies included. */
export function parametersOf(query: Query): Parameter[] {
  return [...nodes(query)].filter((node): node is Parameter => node.kind === 'parameter');
}

/**
 * The real tables that the query reads, by GoogleSQL's scoping: a WITH name is visible to later siblings and to the body,
 * never to itself nor to earlier siblings; a path of two or more parts whose first is an alias is an array, no table.
 */
export function tablesReadBy(query: Query): TableRead[] {
  const found: TableRead[] = [];
  visit(query, new Set(), new Set(), (path, span, within) => found.push({ path, span, within }), null, true);
  return found;
}

type Report = (path: readonly Identifier[], span: Span, within: string | null) => void;

function visit(
  node: unknown,
  ctes: ReadonlySet<string>,
  aliases: ReadonlySet<string>,
  report: Report,
  within: string | null,
  top = false,
): void {
  if (typeof node !== 'object' || node === null) return;
  let visibleCtes = ctes;
  let visibleAliases = aliases;
  const skipped = new Set<unknown>();
  const kind = 'kind' in node ? node.kind : null;
  if (kind === 'query') {
    const query = node as Query;
    skipped.add(query.with);
    for (const entry of query.with?.entries ?? []) {
      const inside = query.with?.recursive === true ? withName(visibleCtes, entry.name.name) : visibleCtes;
      // A CTE's body sees no alias around it.
      visit(entry.query, inside, new Set(), report, top ? entry.name.name : within);
      visibleCtes = withName(visibleCtes, entry.name.name);
    }
  } else if (kind === 'select') {
    visibleAliases = new Set([...aliases, ...aliasesIn((node as { readonly from: unknown }).from)]);
  } else if (kind === 'table_path') {
    const { path, span } = node as { readonly path: readonly Identifier[]; readonly span: Span };
    const first = path[0]?.name.toLowerCase() ?? '';
    const isArray = path.length > 1 && aliases.has(first);
    const isCte = path.length === 1 && ctes.has(first);
    if (!isArray && !isCte) report(path, span, within);
  }
  for (const value of Object.values(node)) {
    if (!skipped.has(value)) visit(value, visibleCtes, visibleAliases, report, within);
  }
}

function withName(names: ReadonlySet<string>, name: string): ReadonlySet<string> {
  return new Set([...names, name.toLowerCase()]);
}

/** Names that the items of one FROM give, its joins included, folded to lower case. */
function aliasesIn(item: unknown): string[] {
  if (typeof item !== 'object' || item === null || !('kind' in item)) return [];
  const {
    alias,
    path,
    left,
    right,
    item: inner,
  } = item as Partial<Record<'alias' | 'left' | 'right' | 'item', unknown>> & {
    readonly path?: readonly Identifier[];
  };
  const given = (alias as Identifier | null | undefined) ?? path?.at(-1);
  return [...(given === undefined ? [] : [given.name.toLowerCase()]), ...[left, right, inner].flatMap(aliasesIn)];
}
