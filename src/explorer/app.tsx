import { Histogram } from './histogram/histogram';
import { QueryLine } from './query-line';
import { mayQuery } from './schema';
import { endpoint, change } from './search';
import { KeyDialog } from './key-dialog';
import { ParameterFields } from './parameter-fields';
import { RowDetail } from './row-detail';
import { RowList } from './row-list';
import { cancel, cancelled, failure, result, run, runFirst, running } from './run';
import { endpoints, forget, key } from './session';
import { TimePicker } from './time-picker';
import { rangeParameters } from './search';

/** The page. */
export function App() {
  return (
    <div
      class="app"
      onKeyDown={(event) => {
        if (event.key === 'Escape' && !event.defaultPrevented) cancel();
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void run();
      }}
    >
      <header class="bar">
        <h1>Logquay</h1>
        <EndpointChoice />
        <ParameterFields />
        {rangeParameters.value === null ? null : <TimePicker />}
        <RunButton />
        {key.value === null ? null : (
          <button type="button" class="key" onClick={forget}>
            Change key
          </button>
        )}
      </header>
      {mayQuery.value ? <QueryLine /> : null}
      <Status />
      <Histogram />
      <main class="results">
        <RowList />
        <RowDetail />
      </main>
      <KeyDialog />
    </div>
  );
}

function EndpointChoice() {
  const all = endpoints.value ?? [];
  return (
    <div class="field">
      <label for="endpoint">Endpoint</label>
      <select
        id="endpoint"
        value={endpoint.value?.name ?? ''}
        title={endpoint.value?.description ?? ''}
        onChange={(event) => {
          change({ endpoint: event.currentTarget.value, values: new Map(), query: '' });
          void runFirst();
        }}
      >
        {all.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}

function RunButton() {
  if (running.value) {
    return (
      <button type="button" class="primary" onClick={cancel}>
        Cancel
      </button>
    );
  }
  return (
    <button type="button" class="primary" onClick={() => void run()}>
      Run
    </button>
  );
}

/** One line, always there: nothing moves when it changes. */
function Status() {
  return (
    <div class={failure.value === null ? 'status' : 'status fault'} role="status" aria-live="polite">
      {statusText()}
    </div>
  );
}

function statusText(): string {
  if (running.value) return 'Running… (Esc cancels)';
  if (cancelled.value) return 'Cancelled.';
  const error = failure.value;
  if (error !== null) {
    const { line, column, hint } = error.details;
    const place = line === undefined ? '' : ` (line ${line}, column ${column ?? 1})`;
    return `${error.message}${place}${hint === undefined ? '' : ` ${hint}`}`;
  }
  const done = result.value;
  if (done === null) return '';
  const { rows, truncated, milliseconds, age, bytesBilled } = done;
  return [
    `${rows.length.toLocaleString('en')} ${rows.length === 1 ? 'row' : 'rows'}${truncated ? ' (more match: the endpoint gives no more)' : ''}`,
    `${Math.round(milliseconds).toLocaleString('en')} ms`,
    ...(bytesBilled === null ? [] : [`${Number(bytesBilled).toLocaleString('en')} bytes billed`]),
    ...(age === null ? [] : [`from the cache, ${age} s old`]),
  ].join(' · ');
}
