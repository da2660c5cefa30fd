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
  widened,
  writeRange,
  zoneName,
} from './time-range';
import { Popup } from './popup';
import { run } from './run';
import { change, search } from './search';

/** Range, zone, and the stretch before, after or around. */
export function TimePicker() {
  const { range, zone } = search.value;
  const choose = (next: TimeRange): void => {
    change({ range: next });
    void run();
  };
  const step = (label: string, sign: string, next: () => TimeRange) => (
    <button type="button" aria-label={label} title={label} onClick={() => choose(next())}>
      {sign}
    </button>
  );
  return (
    <div class="time-picker" role="group" aria-label="Time range">
      {step('Earlier', '‹', () => shifted(range, -1, serviceNow()))}
      <Popup
        label={
          <>
            <span class="visually-hidden">Time range: </span>
            {labelOf(range, zone)}
          </>
        }
      >
        {(close) => {
          const chooseAndClose = (next: TimeRange): void => {
            close();
            choose(next);
          };
          return (
            <>
              <ul class="offered">
                {OFFERED.map(([text, label]) => (
                  <li key={text}>
                    <button
                      type="button"
                      aria-pressed={writeRange(range) === text}
                      onClick={() => {
                        const next = readRange(text);
                        if (next !== null) chooseAndClose(next);
                      }}
                    >
                      {label}
                    </button>
                  </li>
                ))}
              </ul>
              <Relative choose={chooseAndClose} />
              <Absolute range={range} zone={zone} choose={chooseAndClose} />
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
            </>
          );
        }}
      </Popup>
      {step('Later', '›', () => shifted(range, 1, serviceNow()))}
      {step('Zoom out', '−', () => widened(range, serviceNow()))}
    </div>
  );
}

/** Any stretch up to now. */
function Relative({ choose }: { readonly choose: (range: TimeRange) => void }) {
  const field = useRef<HTMLInputElement>(null);
  return (
    <form
      class="absolute"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        const range = readRange(field.current?.value ?? '');
        if (range !== null) choose(range);
        else field.current?.setCustomValidity('Write it like now-90m, 36h or 2w.');
        field.current?.reportValidity();
      }}
    >
      <label for="range-last">Since</label>
      <input
        ref={field}
        id="range-last"
        placeholder="now-90m"
        autocomplete="off"
        onInput={(event) => event.currentTarget.setCustomValidity('')}
      />
    </form>
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
  return `${start} – ${end.slice(0, 10) === start.slice(0, 10) ? end.slice(11) : end} ${zoneName(range.start, zone)}`;
}
