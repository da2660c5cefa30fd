import { endpoint, change, query, search } from './search';
import { KeyDialog } from './key-dialog';
import { ParameterFields } from './parameter-fields';
import { RowDetail } from './row-detail';
import { RowList } from './row-list';
import { cancel, cancelled, failure, result, run, running } from './run';
import { endpoints, forget, key } from './session';
import { TimePicker } from './time-picker';
import { rangeParameters } from './search';

/** The page. */
export function App() {
  return (
    <div
      class="app"
      onKeyDown={(event) => {
        if (event.key === 'Escape') cancel();
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
      {endpoint.value?.sandbox === true ? <QueryLine /> : null}
      <Status />
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
          void run();
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

function QueryLine() {
  const { language } = search.value;
  return (
    <div class="query">
      <select
        aria-label="Language"
        value={language}
        onChange={(event) => change({ language: event.currentTarget.value === 'sql' ? 'sql' : 'lql', query: '' })}
      >
        <option value="lql">LQL</option>
        <option value="sql">SQL</option>
      </select>
      <textarea
        aria-label="Query"
        rows={language === 'sql' ? 4 : 1}
        spellcheck={false}
        value={query.value}
        placeholder={language === 'sql' ? 'SELECT …' : 'f:edge_logs m.response.status_code:>=500'}
        onInput={(event) => change({ query: event.currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || (language === 'sql' && !event.ctrlKey && !event.metaKey)) return;
          event.preventDefault();
          event.stopPropagation();
          void run();
        }}
      />
    </div>
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
