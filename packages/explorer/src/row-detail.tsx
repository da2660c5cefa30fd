import { useSignal } from '@preact/signals';

import { clauseFor } from './clause';
import { isObject, type Json, type JsonObject, parseExactly, valueAt, writeExactly } from './exact-json';
import { framed } from './embed';
import { messageOf, placeOf, roles, timeOf } from './log';
import { showAround } from './more-rows';
import { canFilter, filterBy, run } from './run';
import { writeInstant } from './time-range';
import { closeRow, opened } from './row-list';
import { result, shownSearch } from './result';
import { change, fromClause, rangeParameters, search, writeFragment } from './search';
import { copied } from './share';
import { Text } from './text';
import { ValueTree } from './value-tree';

/** UTF-16 units of a message that are shown above the tree, which has all of it; longer JSON is not read. */
const [LONGEST_MESSAGE, LONGEST_JSON] = [4000, 200_000];

/** The row that is open: its message, and everything it holds as a tree. */
export function RowDetail() {
  const row = opened.value;
  if (row === null) return null;
  return <Detail row={row} />;
}

function Detail({ row }: { readonly row: JsonObject }) {
  const news = useSignal('');
  const micros = timeOf(row, roles.value.time);
  const message = roles.value.message === null ? '' : messageOf(row);
  const parsed = jsonIn(message);
  const place = placeOf(row);
  const copy = async (text: string): Promise<void> => {
    news.value = await copied(text);
  };
  return (
    <aside
      class="detail"
      aria-label="Row"
      onKeyDown={(event) => {
        if (event.key === 'Escape') closeRow();
      }}
    >
      <header>
        <h2>{micros === null ? 'Row' : writeInstant(micros, search.value.zone, true)}</h2>
        <span role="status">{news.value}</span>
        {micros === null || rangeParameters.value === null ? null : (
          <button type="button" title="The rows before and after, without filters" onClick={() => void showAround(row)}>
            Around
          </button>
        )}
        <TraceButton row={row} />
        {place !== '' && micros !== null && !framed ? (
          <button type="button" onClick={() => void copy(linkTo(place, micros))}>
            Copy link
          </button>
        ) : null}
        <button type="button" onClick={() => void copy(writeExactly(row, 2))}>
          Copy as JSON
        </button>
        <button type="button" aria-label="Close the row" onClick={closeRow}>
          ×
        </button>
      </header>
      <div class="scroll" tabIndex={0} role="region" aria-label="Fields of the row">
        {message === '' ? null : parsed === null ? (
          <pre class="message">
            <Text text={message.slice(0, LONGEST_MESSAGE)} />
          </pre>
        ) : (
          <div class="message">
            <ValueTree value={parsed} path={null} filter={null} copy={(text) => void copy(text)} />
          </div>
        )}
        <ValueTree value={row} filter={canFilter.value ? filterBy : null} copy={(text) => void copy(text)} />
      </div>
    </aside>
  );
}

/** JSON that a message holds. null: it is text */
function jsonIn(message: string): JsonObject | null {
  if (!/^\s*[{[]/.test(message) || message.length > LONGEST_JSON) return null;
  try {
    const found: Json = parseExactly(message);
    return isObject(found) ? found : Array.isArray(found) ? Object.fromEntries(Object.entries(found)) : null;
  } catch {
    return null;
  }
}

/** All rows of the same trace, in this table. */
function TraceButton({ row }: { readonly row: JsonObject }) {
  const { trace } = roles.value;
  const value = trace === null ? undefined : valueAt(row, trace.path);
  const clause = trace === null || typeof value !== 'string' || value === '' ? null : clauseFor(trace.path, value);
  if (clause === null || !canFilter.value) return null;
  return (
    <button
      type="button"
      title={`All rows with ${clause}`}
      onClick={() => {
        change({ query: `${fromClause(result.value?.written.text ?? '')} ${clause}`.trim() });
        void run();
      }}
    >
      Trace
    </button>
  );
}

/** A link that opens this row: it is the newest of the stretch. */
function linkTo(row: string, micros: bigint): string {
  const end = Number(micros / 1000n) + 1;
  const start = Math.min(end - 1000, result.value?.bounds.start ?? end - 3_600_000);
  const fragment = writeFragment({ ...shownSearch(), range: { kind: 'between', start, end }, row });
  return location.href.replace(/#.*$/, '') + fragment;
}
