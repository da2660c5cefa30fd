import { useSignal } from '@preact/signals';

import { type JsonObject, member, writeExactly } from './exact-json';
import { framed } from './embed';
import { canFilter, filterBy } from './run';
import { microsOf, writeInstant } from './time-range';
import { opened } from './row-list';
import { result } from './run';
import { search, writeFragment } from './search';
import { copied } from './share';
import { ValueTree } from './value-tree';
import { visibleText } from './visible-text';

/** UTF-16 units of a message that are shown above the tree, which has all of it. */
const LONGEST_MESSAGE = 4000;

/** The row that is open: its message, and everything it holds as a tree. */
export function RowDetail() {
  const row = opened.value;
  if (row === null) return null;
  return <Detail row={row} />;
}

function Detail({ row }: { readonly row: JsonObject }) {
  const news = useSignal('');
  const micros = microsOf(member(row, 'timestamp'));
  const message = member(row, 'event_message');
  const id = member(row, 'id');
  const copy = async (text: string): Promise<void> => {
    news.value = await copied(text);
  };
  return (
    <aside
      class="detail"
      aria-label="Row"
      onKeyDown={(event) => {
        if (event.key === 'Escape') opened.value = null;
      }}
    >
      <header>
        <h2>{micros === null ? 'Row' : writeInstant(micros, search.value.zone, true)}</h2>
        <span role="status">{news.value}</span>
        {typeof id === 'string' && micros !== null && !framed ? (
          <button type="button" onClick={() => void copy(linkTo(id, micros))}>
            Copy link
          </button>
        ) : null}
        <button type="button" onClick={() => void copy(writeExactly(row, 2))}>
          Copy as JSON
        </button>
        <button type="button" aria-label="Close the row" onClick={() => (opened.value = null)}>
          ×
        </button>
      </header>
      <div class="scroll" tabIndex={0} role="region" aria-label="Fields of the row">
        {typeof message === 'string' ? (
          <pre class="message">{visibleText(message.slice(0, LONGEST_MESSAGE))}</pre>
        ) : null}
        <ValueTree value={row} filter={canFilter.value ? filterBy : null} copy={(text) => void copy(text)} />
      </div>
    </aside>
  );
}

/** A link that opens this row: it is the newest of the stretch. */
function linkTo(row: string, micros: bigint): string {
  const end = Number(micros / 1000n) + 1;
  const start = Math.min(end - 1000, result.value?.bounds.start ?? end - 3_600_000);
  const fragment = writeFragment({ ...search.value, range: { kind: 'between', start, end }, row });
  return location.href.replace(/#.*$/, '') + fragment;
}
