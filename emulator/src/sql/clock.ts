import { closing, type Token } from './tokens';
import { type Edit } from './edits';

/** What each function of the present becomes, given the instant as an expression; the others take a time zone too. */
const OF_NOW: Readonly<Record<string, string | null>> = {
  current_timestamp: null,
  current_date: 'DATE',
  current_datetime: 'DATETIME',
  current_time: 'TIME',
};

/**
 * Puts a fixed instant in the place of CURRENT_TIMESTAMP and its like: the engine's own clock cannot be set.
 * `called` are the functions that the resolved statement calls, so that a column of such a name stays a column.
 */
export function clockEdits(tokens: readonly Token[], called: ReadonlySet<string>, nowMicros: bigint): Edit[] {
  const now = `TIMESTAMP_MICROS(${nowMicros})`;
  const edits: Edit[] = [];
  tokens.forEach((token, i) => {
    const name = (token.kind === 'quoted' ? token.text.slice(1, -1) : token.text).toLowerCase();
    const convert = token.kind === 'word' || token.kind === 'quoted' ? OF_NOW[name] : undefined;
    if (convert === undefined || !called.has(name)) return;
    const before = tokens[i - 1];
    const isCall = tokens[i + 1]?.text === '(';
    if (before?.text === '.' && tokens[i - 2]?.text.toLowerCase() !== 'safe') return;
    if (!isCall && (token.kind === 'quoted' || before?.text.toLowerCase() === 'as' || tokens[i + 1]?.text === '.'))
      return;
    const end = isCall ? closing(tokens, i + 1) : i;
    const zone = isCall && end > i + 2;
    if (convert === null) edits.push({ start: token.start, end: tokens[end]?.end ?? token.end, text: now });
    else if (zone)
      edits.push({ start: token.start, end: tokens[i + 1]?.end ?? token.end, text: `${convert}(${now}, ` });
    else edits.push({ start: token.start, end: tokens[end]?.end ?? token.end, text: `${convert}(${now})` });
  });
  return edits;
}
