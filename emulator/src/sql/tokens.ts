/** A token of a GoogleSQL text with its place in UTF-16 offsets, end exclusive. Comments and white space are left out. */
export interface Token {
  readonly kind: 'word' | 'quoted' | 'string' | 'number' | 'parameter' | 'symbol';
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const SPACE = /(?:\s|--[^\r\n]*|#[^\r\n]*|\/\*[^]*?\*\/)+/y;
const TOKENS: readonly (readonly [Token['kind'], RegExp])[] = [
  [
    'string',
    /(?:rb|br|r|b)?(?:"""(?:\\[^]|[^\\])*?"""|'''(?:\\[^]|[^\\])*?'''|"(?:\\[^]|[^\\"])*"|'(?:\\[^]|[^\\'])*')/iy,
  ],
  ['quoted', /`(?:\\[^]|[^\\`])*`/y],
  ['parameter', /@@?(?:`(?:\\[^]|[^\\`])*`|\w+)/y],
  ['number', /(?:0x[0-9a-f]+|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)/iy],
  ['word', /[a-z_]\w*/iy],
  ['symbol', /<>|<=|>=|!=|=>|->|<<|>>|\|\||\|>|[^]/y],
];

/** Splits a text that the engine has accepted into tokens. What is no token comes as a one-character symbol. */
export function tokensOf(sql: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < sql.length;) {
    SPACE.lastIndex = at;
    const space = SPACE.exec(sql);
    if (space !== null) {
      at += space[0].length;
      continue;
    }
    for (const [kind, pattern] of TOKENS) {
      pattern.lastIndex = at;
      const found = pattern.exec(sql);
      if (found === null) continue;
      const text = found[0];
      tokens.push({ kind, text, start: at, end: at + text.length });
      at += text.length;
      break;
    }
  }
  return tokens;
}

/** True for a text of more than one statement: a token follows the first semicolon. */
export function isScript(tokens: readonly Token[]): boolean {
  const end = tokens.findIndex((token) => token.kind === 'symbol' && token.text === ';');
  return end >= 0 && end < tokens.length - 1;
}

/** The index of the token that closes the bracket at `open`; the last token where nothing does. */
export function closing(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let i = open; i < tokens.length; i++) {
    const token = tokens[i];
    if (token?.kind !== 'symbol') continue;
    if ('([{'.includes(token.text)) depth += 1;
    else if (')]}'.includes(token.text) && --depth === 0) return i;
  }
  return tokens.length - 1;
}
