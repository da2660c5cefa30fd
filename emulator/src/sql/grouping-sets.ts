import { closing, tokensOf, type Token } from './tokens';

/**
 * GROUP BY ROLLUP, CUBE and GROUPING SETS, which the reference engine resolves and cannot evaluate, as a UNION ALL of one
 * query for each set. In each, a key that is not in the set is a NULL of its type outside of aggregates.
 * An ORDER BY after it orders the union, so that it may name columns and places, not expressions over the groups.
 */
export function expandGroupingSets(sql: string): string {
  for (let text = sql; ;) {
    const tokens = tokensOf(text);
    const by = tokens.findLastIndex(
      (token, i) => word(token) === 'BY' && word(tokens[i - 1]) === 'GROUP' && isGrouping(tokens, i + 1),
    );
    if (by < 0) return text;
    const block = blockOf(tokens, by);
    const keys = groupingSets(text, tokens, by + 1, block);
    const start = tokens[block.select]?.start ?? 0;
    const end = tokens[block.end - 1]?.end ?? text.length;
    const members = keys.sets.map((set) => member(text, tokens, by, block, keys.all, set));
    text = `${text.slice(0, start)}(${members.join(' UNION ALL ')})${text.slice(end)}`;
  }
}

/** A SELECT among the tokens: where it and its FROM begin, where its HAVING may follow, where it ends. */
interface Block {
  readonly select: number;
  readonly from: number;
  /** After the keys. */
  readonly rest: number;
  readonly end: number;
}

interface Keys {
  /** Texts of the keys, each once. */
  readonly all: readonly string[];
  readonly sets: readonly (readonly string[])[];
}

const ENDS = new Set(['ORDER', 'LIMIT', 'UNION', 'INTERSECT', 'EXCEPT']);

function word(token: Token | undefined): string {
  return token?.kind === 'word' ? token.text.toUpperCase() : '';
}

function isGrouping(tokens: readonly Token[], i: number): boolean {
  return ['ROLLUP', 'CUBE'].includes(word(tokens[i]))
    ? tokens[i + 1]?.text === '('
    : word(tokens[i]) === 'GROUPING' && word(tokens[i + 1]) === 'SETS';
}

function blockOf(tokens: readonly Token[], by: number): Block {
  let select = by;
  let from = by - 1;
  for (let depth = 0, i = by; i >= 0; i--) {
    const token = tokens[i];
    if (token?.kind === 'symbol' && ')]'.includes(token.text)) depth += 1;
    else if (token?.kind === 'symbol' && '(['.includes(token.text)) depth -= 1;
    if (depth < 0) break;
    if (depth === 0 && word(token) === 'FROM') from = i;
    if (depth === 0 && word(token) === 'SELECT') {
      select = i;
      break;
    }
  }
  const open = tokens[by + 2]?.text === '(' ? by + 2 : by + 3;
  const rest = closing(tokens, open) + 1;
  let end = rest;
  for (; end < tokens.length; end++) {
    const token = tokens[end];
    if (token?.kind === 'symbol' && '(['.includes(token.text)) end = closing(tokens, end);
    else if (ENDS.has(word(token)) || (token?.kind === 'symbol' && ')];,'.includes(token.text))) break;
  }
  return { select, from, rest, end };
}

function groupingSets(text: string, tokens: readonly Token[], at: number, block: Block): Keys {
  const kind = word(tokens[at]);
  const open = kind === 'GROUPING' ? at + 2 : at + 1;
  const items = listOf(text, tokens, open);
  const lists = items.map((item) => (item.startsWith('(') ? listOf(item, tokensOf(item), 0) : [item]));
  const resolve = (key: string) => keyText(text, tokens, block, key);
  if (kind === 'GROUPING') {
    const sets = lists.map((list) => list.map(resolve));
    return { all: [...new Set(sets.flat())], sets };
  }
  const keys = lists.map((list) => list.map(resolve));
  const sets =
    kind === 'ROLLUP'
      ? Array.from({ length: keys.length + 1 }, (_, i) => keys.slice(0, keys.length - i).flat())
      : Array.from({ length: 2 ** keys.length }, (_, i) => keys.filter((_key, bit) => (i & (1 << bit)) === 0).flat());
  return { all: [...new Set(keys.flat())], sets };
}

/** A key that is a place in the select list, or the alias of an item of it, represents the item's expression. */
function keyText(text: string, tokens: readonly Token[], block: Block, key: string): string {
  const items = selectList(text, tokens, block);
  if (/^\d+$/.test(key)) return items[Number(key) - 1]?.expression ?? key;
  return (
    items.find(({ alias, expression }) => alias.toLowerCase() === key.toLowerCase() && expression !== '')?.expression ??
    key
  );
}

function selectList(
  text: string,
  tokens: readonly Token[],
  { select, from }: Block,
): { expression: string; alias: string }[] {
  const list = text.slice(tokens[select]?.end, tokens[from]?.start);
  const inner = `(${list})`;
  return listOf(inner, tokensOf(inner), 0).map((item) => {
    const m = /^([^]*?)\s+as\s+`?(\w+)`?$/i.exec(item);
    return m === null ? { expression: item, alias: '' } : { expression: m[1] ?? '', alias: m[2] ?? '' };
  });
}

function member(
  text: string,
  tokens: readonly Token[],
  by: number,
  block: Block,
  all: readonly string[],
  set: readonly string[],
): string {
  const inSet = new Set(set.map((key) => key.toLowerCase()));
  const out = all.filter((key) => !inSet.has(key.toLowerCase()));
  const items = selectList(text, tokens, block).map(({ expression, alias }) => {
    const name =
      alias !== '' ? alias : out.some((key) => same(key, expression)) ? (/(\w+)`?$/.exec(expression)?.[1] ?? '') : '';
    return `${withoutKeys(expression, all, out)}${name === '' ? '' : ` AS \`${name}\``}`;
  });
  const source = text.slice(tokens[block.from]?.start, tokens[by - 1]?.start);
  const having = withoutKeys(
    text.slice(tokens[block.rest]?.start ?? text.length, tokens[block.end - 1]?.end),
    all,
    out,
  );
  const keys = set.length === 0 ? '' : `GROUP BY ${set.join(', ')}`;
  return `SELECT ${items.join(', ')} ${source} ${keys} ${block.rest < block.end ? having : ''}`;
}

function same(a: string, b: string): boolean {
  const normal = (text: string) =>
    tokensOf(text)
      .map((token) => token.text.toLowerCase())
      .join(' ');
  return normal(a) === normal(b);
}

/** An expression with the keys that are not of the set as NULLs, and GROUPING(key) as what it is there. */
function withoutKeys(expression: string, all: readonly string[], out: readonly string[]): string {
  let text = expression;
  for (const key of all) {
    const grouping = new RegExp(`\\bGROUPING\\s*\\(\\s*${escape(key)}\\s*\\)`, 'gi');
    text = text.replace(grouping, out.some((other) => same(other, key)) ? '1' : '0');
  }
  if (out.length === 0) return text;
  const tokens = tokensOf(text);
  let result = '';
  let at = 0;
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i];
    if (token === undefined) break;
    const key = out.find((candidate) => startsWith(tokens, i, candidate));
    if (key !== undefined && tokens[i - 1]?.text !== '.') {
      const last = tokens[i + tokensOf(key).length - 1];
      result += `${text.slice(at, token.start)}ANY_VALUE(NULLIF(${key}, ${key}))`;
      at = last?.end ?? token.end;
      i += tokensOf(key).length - 1;
    } else if (token.kind === 'word' && tokens[i + 1]?.text === '(' && AGGREGATES.has(token.text.toLowerCase()))
      i = closing(tokens, i + 1);
  }
  return result + text.slice(at);
}

function startsWith(tokens: readonly Token[], i: number, key: string): boolean {
  return tokensOf(key).every((token, k) => tokens[i + k]?.text.toLowerCase() === token.text.toLowerCase());
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** The texts between the commas of the bracket at `open`. */
function listOf(text: string, tokens: readonly Token[], open: number): string[] {
  const close = closing(tokens, open);
  const parts: string[] = [];
  let start = tokens[open]?.end ?? 0;
  for (let i = open + 1; i <= close; i++) {
    const token = tokens[i];
    if (token === undefined) break;
    if (i < close && token.kind === 'symbol' && '([{'.includes(token.text)) i = closing(tokens, i);
    else if (token.text === ',' || i === close) {
      const part = text.slice(start, token.start).trim();
      if (part !== '') parts.push(part);
      start = token.end;
    }
  }
  return parts;
}

/** Inside these a key is the row's own value. */
const AGGREGATES = new Set(
  `any_value array_agg array_concat_agg avg bit_and bit_or bit_xor corr count countif covar_pop covar_samp logical_and logical_or max max_by min
  min_by stddev stddev_pop stddev_samp string_agg sum var_pop var_samp variance approx_count_distinct approx_quantiles approx_top_count approx_top_sum`.split(
    /\s+/,
  ),
);
