import { computed, useSignal } from '@preact/signals';

import { withClause } from './clause';
import { type JsonObject, member, writeExactly } from './exact-json';
import { microsOf, writeInstant } from './instant';
import { opened } from './row-list';
import { result, run } from './run';
import { change, endpoint, query, search } from './search';
import { ValueTree } from './value-tree';
import { visibleText } from './visible-text';

/** UTF-16 units of a message that are shown above the tree, which has all of it. */
const LONGEST_MESSAGE = 4000;

/** Rows of a log table as it is: those of another query have names that its tables do not know. */
const canFilter = computed(
  () =>
    search.value.language === 'lql' &&
    endpoint.value?.sandbox === true &&
    result.value?.columns.includes('event_message') === true,
);

function filterBy(clause: string, exclude: boolean): void {
  change({ query: withClause(query.value, clause, exclude) });
  void run();
}

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
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(writeExactly(row, 2));
      news.value = 'Copied';
    } catch {
      news.value = 'The browser does not let this page copy.';
    }
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
        <button type="button" onClick={() => void copy()}>
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
        <ValueTree value={row} filter={canFilter.value ? filterBy : null} />
      </div>
    </aside>
  );
}
