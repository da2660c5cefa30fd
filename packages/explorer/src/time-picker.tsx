import { useRef } from 'preact/hooks';

import { serviceNow } from './api';
import {
  fromField,
  toField,
  writeInstant,
  type Zone,
  boundsOf,
  OFFERED,
  readRange,
  shifted,
  type TimeRange,
  writeRange,
} from './time-range';
import { run } from './run';
import { change, search } from './search';

/** Range, zone, and the stretch before or after. */
export function TimePicker() {
  const popup = useRef<HTMLDetailsElement>(null);
  const { range, zone } = search.value;
  const choose = (next: TimeRange): void => {
    change({ range: next });
    if (popup.current !== null) popup.current.open = false;
    void run();
  };
  const move = (direction: -1 | 1): void => {
    choose(shifted(range, direction, serviceNow()));
  };
  return (
    <div class="time-picker" role="group" aria-label="Time range">
      <button type="button" aria-label="Earlier" title="Earlier" onClick={() => move(-1)}>
        ‹
      </button>
      <details ref={popup} class="popup">
        <summary>
          <span class="visually-hidden">Time range: </span>
          {labelOf(range, zone)}
        </summary>
        <div class="panel">
          <ul class="offered">
            {OFFERED.map(([text, label]) => (
              <li key={text}>
                <button
                  type="button"
                  aria-pressed={writeRange(range) === text}
                  onClick={() => {
                    const next = readRange(text);
                    if (next !== null) choose(next);
                  }}
                >
                  {label}
                </button>
              </li>
            ))}
          </ul>
          <Absolute range={range} zone={zone} choose={choose} />
          <label class="check">
            <input
              type="checkbox"
              checked={zone === 'local'}
              onChange={(event) => {
                change({ zone: event.currentTarget.checked ? 'local' : 'utc' });
              }}
            />{' '}
            Times of this machine's zone, not UTC
          </label>
        </div>
      </details>
      <button type="button" aria-label="Later" title="Later" onClick={() => move(1)}>
        ›
      </button>
    </div>
  );
}

interface AbsoluteProps {
  readonly range: TimeRange;
  readonly zone: Zone;
  readonly choose: (range: TimeRange) => void;
}

function Absolute({ range, zone, choose }: AbsoluteProps) {
  const start = useRef<HTMLInputElement>(null);
  const end = useRef<HTMLInputElement>(null);
  const bounds = boundsOf(range, serviceNow());
  const apply = (event: Event): void => {
    event.preventDefault();
    const [from, to] = [fromField(start.current?.value ?? '', zone), fromField(end.current?.value ?? '', zone)];
    if (from < to) choose({ kind: 'between', start: from, end: to });
    else end.current?.setCustomValidity('The end has to be after the start.');
    end.current?.reportValidity();
  };
  return (
    <form class="absolute" onSubmit={apply} noValidate>
      <label for="range-start">From ({zone === 'utc' ? 'UTC' : 'local'})</label>
      <input ref={start} id="range-start" type="datetime-local" step="1" value={toField(bounds.start, zone)} />
      <label for="range-end">To</label>
      <input
        ref={end}
        id="range-end"
        type="datetime-local"
        step="1"
        value={toField(bounds.end, zone)}
        onInput={(event) => event.currentTarget.setCustomValidity('')}
      />
      <button type="submit">Apply</button>
    </form>
  );
}

function labelOf(range: TimeRange, zone: Zone): string {
  if (range.kind === 'last') {
    const text = writeRange(range);
    return OFFERED.find(([offered]) => offered === text)?.[1] ?? `Last ${text}`;
  }
  const text = (at: number): string => writeInstant(BigInt(Math.round(at)) * 1000n, zone).replace(/\.000$/, '');
  const [start, end] = [text(range.start), text(range.end)];
  // Of one day, its date is said once.
  return `${start} – ${end.slice(0, 10) === start.slice(0, 10) ? end.slice(11) : end}`;
}
