export { lex } from './lexer';
export { parseQuery, surveyQuery, unsupportedError, type Construct, type ParsedQuery } from './parser';
export { checkStatement } from './statement';
export type { Token, TokenKind } from './token';
export { forEachChild, walk, type SyntaxNode } from './syntax-walk';
