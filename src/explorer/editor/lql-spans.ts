import type { ColouredSpan } from './sql-spans';

const CLAUSE = /-?(?:"(?:\\.|[^"\\])*"?|[^\s"])+/g;
const HEAD = /^-?(?:([A-Za-z0-9_.]+):)?((?:>=|<=|>|<|@>~|@>|~)?)/;

/** The coloured parts of LQL, clause by clause. */
export function lqlSpans(text: string): readonly ColouredSpan[] {
  const spans: ColouredSpan[] = [];
  for (const { index, 0: clause } of text.matchAll(CLAUSE)) {
    const [head = '', name, operator = ''] = HEAD.exec(clause) ?? [];
    if (clause.startsWith('-')) spans.push({ start: index, end: index + 1, colour: 'keyword' });
    if (name !== undefined) {
      const start = index + (clause.startsWith('-') ? 1 : 0);
      const colour = /^(?:f|from|c|chart|s|select|t|timestamp)$/.test(name) ? 'keyword' : 'field';
      spans.push({ start, end: start + name.length + 1, colour });
    }
    const at = index + head.length;
    if (operator !== '') spans.push({ start: at - operator.length, end: at, colour: 'keyword' });
    const value = clause.slice(head.length);
    const colour = colourOf(value, name !== undefined);
    if (value !== '' && colour !== null) spans.push({ start: at, end: at + value.length, colour });
  }
  return spans;
}

function colourOf(value: string, isOperand: boolean): ColouredSpan['colour'] | null {
  if (value.startsWith('"')) return 'string';
  if (!isOperand) return null;
  if (/^-?[0-9][0-9.]*$/.test(value)) return 'number';
  return /^(?:NULL|true|false)$/.test(value) ? 'type' : 'string';
}
