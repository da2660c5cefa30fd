import { type Token } from './tokens';
import { type Edit } from './edits';

/**
 * BigQuery reads `` `logs.raw` `` as the path logs.raw, whose implicit alias is `raw`; to the engine it is one name. Where
 * the path names a table, the back quotes become spaces: the same path, and every position in the text stays as it was.
 */
export function unquotedPaths(sql: string, tokens: readonly Token[], isTable: (path: string) => boolean): string {
  const edits: Edit[] = [];
  tokens.forEach((token, i) => {
    if (token.kind !== 'quoted') return;
    const path = token.text.slice(1, -1);
    const partOfPath = tokens[i - 1]?.text === '.' || tokens[i + 1]?.text === '.' || tokens[i + 1]?.text === '(';
    if (!partOfPath && /^[a-z_][\w-]*(\.\w+){1,2}$/i.test(path) && isTable(path))
      edits.push({ start: token.start, end: token.end, text: ` ${path} ` });
  });
  let text = sql;
  for (const edit of edits) text = text.slice(0, edit.start) + edit.text + text.slice(edit.end);
  return text;
}
