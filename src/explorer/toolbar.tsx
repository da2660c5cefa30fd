import { chart, chartShown } from './chart';
import { fieldsShown } from './field-list';
import { HistoryMenu } from './history-menu';
import { hourly, live, mayFollow, reading, toggleLive } from './live';
import { result } from './run';
import { Share } from './share';

/** What can be done with what is shown. */
export function Toolbar() {
  return (
    <div class="toolbar" role="group" aria-label="View">
      {result.value === null ? null : (
        <button type="button" aria-pressed={fieldsShown.value} onClick={() => (fieldsShown.value = !fieldsShown.value)}>
          Fields
        </button>
      )}
      {chart.value === null ? null : (
        <button type="button" aria-pressed={chartShown.value} onClick={() => (chartShown.value = !chartShown.value)}>
          Chart
        </button>
      )}
      {mayFollow.value ? <LiveButton /> : null}
      <HistoryMenu />
      <Share />
    </div>
  );
}

function LiveButton() {
  const state = live.value;
  const priced = typeof state === 'object';
  return (
    <div
      class="popup"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !priced) return;
        event.preventDefault();
        live.value = 'off';
      }}
    >
      <button
        type="button"
        class="live"
        aria-pressed={state === 'on'}
        aria-expanded={priced}
        title="Rows as they are written; paused while the pointer is on them"
        onClick={() => void toggleLive()}
      >
        {state === 'on' && reading.value ? 'Live: paused' : 'Live'}
      </button>
      {priced ? (
        <div class="panel right" role="group" aria-label="Price of Live">
          <p role="status">BigQuery bills each look for new rows: up to {hourly(state.price)} an hour.</p>
          <button type="button" class="primary" onClick={() => (live.value = 'on')}>
            Start
          </button>{' '}
          <button type="button" onClick={() => (live.value = 'off')}>
            Not now
          </button>
        </div>
      ) : null}
    </div>
  );
}
