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
  const label =
    state === 'off'
      ? 'Live'
      : state === 'on'
        ? reading.value
          ? 'Live: paused'
          : 'Live'
        : `Live: up to ${hourly(state.price)} an hour?`;
  return (
    <button
      type="button"
      class="live"
      aria-pressed={state === 'on'}
      title="Rows as they are written; paused while the pointer is on them"
      onClick={() => void toggleLive()}
    >
      {label}
    </button>
  );
}
