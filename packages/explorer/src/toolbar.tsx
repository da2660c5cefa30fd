import { chart, chartShown } from './chart';
import { fieldsShown } from './field-list';
import { HistoryMenu } from './history-menu';
import { hourly, interval, INTERVALS, live, mayFollow, reading, toggleLive } from './live';
import { result } from './run';
import { endpoint } from './search';
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
  const asked = typeof state === 'object';
  const name = endpoint.value?.tail === true ? 'Live' : 'Refresh';
  return (
    <div
      class="popup"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !asked) return;
        event.preventDefault();
        live.value = 'off';
      }}
    >
      <button
        type="button"
        class="live"
        aria-pressed={state === 'on'}
        aria-expanded={asked}
        title="Newer rows by themselves; paused while the pointer is on the rows"
        onClick={() => void toggleLive()}
      >
        {state === 'on' && reading.value ? `${name}: paused` : name}
      </button>
      {asked ? (
        <div class="panel right" role="group" aria-label="Refresh">
          <label>
            Every{' '}
            <select value={interval.value} onChange={(event) => (interval.value = Number(event.currentTarget.value))}>
              {INTERVALS.map((each) => (
                <option key={each} value={each}>
                  {each < 60_000 ? `${String(each / 1000)} seconds` : each === 60_000 ? 'minute' : '5 minutes'}
                </option>
              ))}
            </select>
          </label>
          {state.asked === null ? null : (
            <p role="status">BigQuery bills each refresh: up to {hourly(state.asked, interval.value)} an hour.</p>
          )}
          <button type="button" class="primary" onClick={() => (live.value = 'on')}>
            Start
          </button>{' '}
          <button type="button" onClick={() => (live.value = 'off')}>
            Cancel
          </button>
        </div>
      ) : null}
    </div>
  );
}
