import { counts } from './histogram/counts';
import { Histogram } from './histogram/histogram';
import { KeyHelp } from './key-help';
import { isLog } from './log';
import { PatternList, patternsShown } from './pattern-list';
import { Popup } from './popup';
import { QueryLine } from './query-line';
import { mayQuery } from './schema';
import { chooseEndpoint, endpoint, query, rangeParameters, sentQuery } from './search';
import { chart } from './chart';
import { ChartView } from './chart-view';
import { bytesText, type Estimate, estimate, priceText } from './estimate';
import { framed } from './embed';
import { FieldList } from './field-list';
import { KeyDialog, KeyPanel } from './key-panel';
import { ParameterFields } from './parameter-fields';
import { RowDetail } from './row-detail';
import { failure, result } from './result';
import { focusRows, narrow, RowList } from './row-list';
import { cancel, cancelled, held, run, runFirst, running } from './run';
import { endpoints, keyFault, needsKey } from './session';
import { TimePicker } from './time-picker';
import { Tools, Views } from './toolbar';
import { countText } from './visible-text';

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
      <button type="button" class="skip" onClick={focusRows}>
        To the rows
      </button>
      <header class="bar">
        <h1>Logquay</h1>
        <EndpointChoice />
        {narrow.value ? null : <ParameterFields />}
        {rangeParameters.value === null ? null : <TimePicker />}
        <RunButton />
        {narrow.value ? (
          <Popup label={<span aria-label="More">⋯</span>}>
            {() => (
              <>
                <ParameterFields />
                <Tools />
                <Views />
                <KeyPanel />
              </>
            )}
          </Popup>
        ) : (
          <div class="right">
            <Tools />
            <KeyPanel />
          </div>
        )}
      </header>
      <main class="body">
        {mayQuery.value ? <QueryLine /> : null}
        <div class="line">
          <Status />
          {narrow.value ? null : <Views />}
        </div>
        <Picture />
        <div class="results">
          {patternsShown.value && isLog.value ? <PatternList /> : <RowList />}
          <FieldList />
          <RowDetail />
        </div>
      </main>
      <KeyHelp />
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
    <select
      class="endpoint"
      aria-label="Endpoint"
      value={endpoint.value?.name ?? ''}
      title={endpoint.value?.description ?? ''}
      onChange={(event) => {
        chooseEndpoint(event.currentTarget.value);
        void runFirst();
      }}
    >
      {all.map(({ name }) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
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
  // What is said while the next query runs is no fault any more.
  const isFault = failure.value !== null && !running.value && !cancelled.value;
  return (
    <div class={isFault ? 'status fault' : 'status'}>
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
  const done = result.value;
  if (cancelled.value) return done === null ? 'Cancelled.' : 'Cancelled. The rows are those of the run before.';
  const error = failure.value;
  if (error !== null) {
    const { line, column = 1, hint } = error.details;
    // The table that goes before a line is not written in it.
    const written = line === 1 ? Math.max(1, column - (sentQuery.value.length - query.value.length)) : column;
    const place = line === undefined ? '' : ` (line ${line}, column ${written})`;
    return `${error.message}${place}${hint === undefined ? '' : ` ${hint}`}`;
  }
  if (held.value) return 'Not run yet.';
  if (done === null) return '';
  const { rows, truncated, milliseconds, age, bytesBilled, bounds, warnings } = done;
  const bars = counts.value?.bounds === bounds ? counts.value.bytesBilled : 0n;
  const more = truncated
    ? rangeParameters.value !== null && isLog.value
      ? ' (there are older ones)'
      : ' (there are more)'
    : '';
  return [
    `${countText(rows.length, 'row')}${more}`,
    `${Math.round(milliseconds).toLocaleString('en')} ms`,
    ...(bytesBilled === null ? [] : [`${bytesText(Number(BigInt(bytesBilled) + bars))} billed`]),
    age === null ? 'fresh' : `from the cache, ${age} s old`,
    ...(warnings === '' ? [] : [warnings]),
  ].join(' · ');
}
