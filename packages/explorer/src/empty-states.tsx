/** What there is to do where no rows are shown, or not all. */
import { serviceNow } from './api';
import { framed } from './embed';
import { countText } from './visible-text';
import { isLog } from './log';
import { loadingOlder, loadOlder, mayLoadOlder } from './more-rows';
import { failure, result } from './result';
import { held, running, run } from './run';
import { change, query, rangeParameters, search, table } from './search';
import { isPinned } from './session';
import { widened } from './time-range';

export function EmptyState() {
  if (held.value) return <NotRun />;
  const known = result.value;
  if (known === null || known.rows.length > 0 || failure.value !== null || running.value) return null;
  return <NoRows />;
}

/** The price is in the line above. */
function NotRun() {
  return (
    <div class="empty">
      <p>
        <strong>This search has not run yet.</strong>
      </p>
      <p>It costs more than a cent: Run, or Ctrl+Enter, shows its rows.</p>
    </div>
  );
}

function NoRows() {
  const isFiltered = isLog.value && search.value.language === 'lql' && /\s/.test(query.value.trim());
  const widen = (): void => {
    change({ range: widened(search.value.range, serviceNow()) });
    void run();
  };
  return (
    <div class="empty">
      <p>
        <strong>No rows in this range.</strong>
      </p>
      {result.value?.warnings ? <p class="note">{result.value.warnings}</p> : null}
      <p>
        {rangeParameters.value === null ? null : (
          <button type="button" onClick={widen}>
            Twice the range
          </button>
        )}{' '}
        {isFiltered ? (
          <button
            type="button"
            onClick={() => {
              change({ query: table.value === '' ? '' : `f:${table.value}` });
              void run();
            }}
          >
            Without the filters
          </button>
        ) : null}
      </p>
      {isFiltered ? null : <NothingWritten />}
    </div>
  );
}

/** Where to look, for who runs the service, and for who reads. */
function NothingWritten() {
  if (result.value?.bytesBilled !== null) return <p>See that logs arrive in the data set of BigQuery.</p>;
  // Who has a key without pins may be who runs the service.
  if (framed || isPinned.value) return <p>Whoever runs this service knows whether logs arrive.</p>;
  return (
    <p>
      Where nothing was ever written, have a log shipper append rows as JSON lines to files of the folder{' '}
      <code>DATA_DIR</code>, or send them to the collector (<code>COLLECT=on</code>).
    </p>
  );
}

/** Below the last row, where the endpoint gave no more. */
export function LoadOlder() {
  const isLoading = loadingOlder.value === result.value?.number;
  if (!isLog.value || !mayLoadOlder()) return null;
  return (
    <p class="older">
      <button type="button" disabled={isLoading} onClick={() => void loadOlder()}>
        {isLoading ? 'Loading…' : 'Load older'}
      </button>{' '}
      <span role="status">
        {result.value?.olderFault || `${countText(result.value?.rows.length ?? 0, 'row')} are loaded.`}
      </span>
    </p>
  );
}
