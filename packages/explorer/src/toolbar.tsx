import { useRef } from 'preact/hooks';
import { chart, chartShown } from './chart';
import { fieldsShown } from './field-list';
import { HistoryMenu } from './history-menu';
import { hourly, interval, INTERVALS, isTail, live, mayFollow, reading, toggleLive } from './live';
import { isLog } from './log';
import { patternsShown } from './pattern-list';
import { useElsewhere } from './popup';
import { result } from './result';
import { wrapped } from './row-list';
import { Share } from './share';
import type { Signal } from '@preact/signals';

/** How the result is shown. */
export function Views() {
  if (result.value === null) return null;
  const toggle = (label: string, shown: Signal<boolean>) => (
    <button type="button" aria-pressed={shown.value} onClick={() => (shown.value = !shown.value)}>
      {label}
    </button>
  );
  return (
    <div class="toolbar views" role="group" aria-label="View">
      {toggle('Fields', fieldsShown)}
      {chart.value === null ? null : toggle('Chart', chartShown)}
      {isLog.value ? (
        <>
          {toggle('Patterns', patternsShown)}
          {toggle('Wrap', wrapped)}
        </>
      ) : null}
    </div>
  );
}

/** What can be done with the search. */
export function Tools() {
  return (
    <div class="toolbar" role="group" aria-label="Search">
      {mayFollow.value ? <LiveButton /> : null}
      <HistoryMenu />
      <Share />
    </div>
  );
}

function LiveButton() {
  const popup = useRef<HTMLDivElement>(null);
  const state = live.value;
  const asked = typeof state === 'object';
  const name = isTail.value ? 'Live' : 'Refresh';
  useElsewhere(popup, () => {
    if (typeof live.peek() === 'object') live.value = 'off';
  });
  return (
    <div
      ref={popup}
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
        title={
          isTail.value
            ? 'Newer rows by themselves; paused while the pointer is on the rows'
            : 'The search again, at an interval'
        }
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
