import type { Relation } from './resolved';

const known = new WeakMap<Relation, boolean>();

/** Whether a relation has one row at most, whatever the tables hold. */
export function hasOneRowAtMost(relation: Relation): boolean {
  let found = known.get(relation);
  if (found === undefined) known.set(relation, (found = compute(relation)));
  return found;
}

function compute(relation: Relation): boolean {
  switch (relation.kind) {
    case 'single_row':
      return true;
    case 'aggregate':
      return relation.keys.length === 0 && relation.groupingSets === null;
    case 'compute':
    case 'filter':
    case 'sort':
    case 'window':
      return hasOneRowAtMost(relation.input);
    case 'limit':
      return isOneAtMost(relation) || hasOneRowAtMost(relation.input);
    case 'query':
      return hasOneRowAtMost(relation.query.relation);
    case 'cte':
      return hasOneRowAtMost(relation.cte.query.relation);
    case 'join':
      return relation.type !== 'full' && hasOneRowAtMost(relation.left) && hasOneRowAtMost(relation.right);
    case 'table':
    case 'unnest':
    case 'set':
      return false;
  }
}

function isOneAtMost({ count }: Extract<Relation, { kind: 'limit' }>): boolean {
  return count.kind === 'literal' && (count.value === '0' || count.value === '1');
}
