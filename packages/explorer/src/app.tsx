import { counts } from './histogram/counts';
import { Histogram } from './histogram/histogram';
import { QueryLine } from './query-line';
import { mayQuery } from './schema';
import { endpoint, change, rangeParameters } from './search';
import { chart } from './chart';
import { ChartView } from './chart-view';
import { bytesText, type Estimate, estimate, priceText } from './estimate';
import { framed } from './embed';
import { FieldList } from './field-list';
import { KeyDialog, KeyPanel } from './key-panel';
import { ParameterFields } from './parameter-fields';
import { RowDetail } from './row-detail';
import { RowList } from './row-list';
import { cancel, cancelled, failure, held, result, run, runFirst, running } from './run';
import { endpoints, keyFault, needsKey } from './session';
import { TimePicker } from './time-picker';
import { Toolbar } from './toolbar';

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
        <div class="right">
          <KeyPanel />
        </div>
      </header>
      <main class="body">
        {mayQuery.value ? <QueryLine /> : null}
        <div class="line">
          <Status />
          <Toolbar />
        </div>
        <Picture />
        <div class="results">
          <FieldList />
          <RowList />
          <RowDetail />
        </div>
      </main>
      {framed ? null : <KeyDialog />}
    </div>
  );
}

/** What of the result can be seen at a glance. Rows without a range have no time, as far as is known before they come. */
function Picture() {
  if (chart.value !== null) return <ChartView />;
  return rangeParameters.value === null && counts.value === null ? null : <Histogram />;
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
    <div class={failure.value === null ? 'status' : 'status fault'}>
      <span role="status" aria-live="polite">
        {statusText()}
      </span>
      {estimate.value === null ? null : <Cost next={estimate.value} />}
    </div>
  );
}

/** What the next run reads and costs, and what the key may still spend. */
function Cost({ next }: { readonly next: Estimate }) {
  const left = next.budgetLeft;
  return (
    <span class="cost" title="What Run would read and cost: the rows and the histogram">
      Next run: {priceText(next)}
      {left === null ? null : ` · ${Math.round(left * 100)} % of today’s budget left`}
    </span>
  );
}

function statusText(): string {
  if (framed && needsKey.value) return keyFault.value ?? 'Waiting for a token…';
  if (running.value) return 'Running… (Esc cancels)';
  if (cancelled.value) return 'Cancelled.';
  const error = failure.value;
  if (error !== null) {
    const { line, column, hint } = error.details;
    const place = line === undefined ? '' : ` (line ${line}, column ${column ?? 1})`;
    return `${error.message}${place}${hint === undefined ? '' : ` ${hint}`}`;
  }
  if (held.value) return 'Not run yet.';
  const done = result.value;
  if (done === null) return '';
  const { rows, truncated, milliseconds, age, bytesBilled, bounds } = done;
  const bars = counts.value?.bounds === bounds ? counts.value.bytesBilled : 0n;
  return [
    `${rows.length.toLocaleString('en')} ${rows.length === 1 ? 'row' : 'rows'}${truncated ? ' (more match: the endpoint gives no more)' : ''}`,
    `${Math.round(milliseconds).toLocaleString('en')} ms`,
    ...(bytesBilled === null ? [] : [`${bytesText(Number(BigInt(bytesBilled) + bars))} billed`]),
    age === null ? 'fresh' : `from the cache, ${age} s old`,
  ].join(' · ');
}
