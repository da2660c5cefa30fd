import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

import { writeInstant, type Zone, zoneName } from '../time-range';
import { narrow } from '../row-list';
import { run } from '../run';
import { change, search } from '../search';
import { type Severity, SEVERITIES } from '../severity';
import { countText } from '../visible-text';
import { tickText, ticksOf } from './buckets';
import { type Bar, type Counts, counting, counts } from './counts';

/** Pixels; the style holds the same. */
const [HIGH, LOW] = [72, 36];
const HOUR = 3_600_000;
/** Pixels that the label of a tick may take. */
const LABEL = 45;
/** Pixels that a pointer moves before it draws a selection. */
const SLIP = 4;

const PARTS: readonly (Severity | 'other')[] = [...SEVERITIES, 'other'];

/** Rows over the range as bars. A stretch that is drawn over, or chosen by Shift and the arrow keys, is zoomed into. */
export function Histogram() {
  const box = useRef<HTMLDivElement>(null);
  const width = useSignal(800);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const watch = new ResizeObserver(() => (width.value = element.clientWidth));
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  const known = counts.value;
  return (
    <div ref={box} class="histogram" aria-busy={counting.value}>
      {known === null ? null : (
        <Bars key={`${known.step} ${known.count}`} known={known} width={Math.max(200, width.value)} />
      )}
    </div>
  );
}

/** Buckets from `anchor` to `head`, both included. */
interface Selection {
  readonly anchor: number;
  readonly head: number;
}

function Bars({ known, width }: { readonly known: Counts; readonly width: number }) {
  const { start, step, count, bounds } = known;
  const { zone } = search.value;
  const cursor = useSignal(count - 1);
  const selection = useSignal<Selection | null>(null);
  const pressedAt = useRef<number | null>(null);
  const tall = narrow.value ? LOW : HIGH;
  const highest = Math.max(1, ...Array.from(known.bars.values(), sumOf));
  const each = width / count;
  const at = (event: PointerEvent): number => {
    const { left } = (event.currentTarget as Element).getBoundingClientRect();
    return Math.min(count - 1, Math.max(0, Math.floor((event.clientX - left) / each)));
  };
  const zoom = (chosen: Selection): void => {
    const [first, last] = [Math.min(chosen.anchor, chosen.head), Math.max(chosen.anchor, chosen.head)];
    change({ range: { kind: 'between', start: start + first * step, end: start + (last + 1) * step } });
    void run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -count, End: count }[event.key] ?? 0;
    if (step !== 0) {
      const next = Math.min(count - 1, Math.max(0, cursor.value + step));
      selection.value = event.shiftKey ? { anchor: selection.value?.anchor ?? cursor.value, head: next } : null;
      cursor.value = next;
    } else if (event.key === 'Enter') zoom(selection.value ?? { anchor: cursor.value, head: cursor.value });
    else if (event.key === 'Escape' && selection.value !== null) selection.value = null;
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const chosen = selection.value;
  const left = chosen === null ? 0 : Math.min(chosen.anchor, chosen.head);
  const right = chosen === null ? 0 : Math.max(chosen.anchor, chosen.head) + 1;
  return (
    <>
      <div
        class="bars"
        role="slider"
        tabIndex={0}
        aria-label="Histogram: arrow keys go through it, with Shift they choose, Enter zooms in"
        aria-valuemin={0}
        aria-valuemax={count - 1}
        aria-valuenow={cursor.value}
        aria-valuetext={describe(known, cursor.value, zone)}
        onKeyDown={onKeyDown}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          pressedAt.current = event.clientX;
          cursor.value = at(event);
        }}
        onPointerMove={(event) => {
          if (pressedAt.current === null) cursor.value = at(event);
          else if (selection.value !== null || Math.abs(event.clientX - pressedAt.current) > SLIP)
            selection.value = { anchor: selection.value?.anchor ?? cursor.value, head: at(event) };
        }}
        onPointerUp={() => {
          const drawn = selection.value;
          if (pressedAt.current !== null) zoom(drawn ?? { anchor: cursor.value, head: cursor.value });
          pressedAt.current = null;
        }}
        onPointerCancel={() => {
          pressedAt.current = null;
          selection.value = null;
        }}
      >
        <svg width={width} height={tall} aria-hidden="true">
          {Array.from(known.bars, ([index, bar]) => (
            <Stack key={index} x={index * each} width={each} bar={bar} highest={highest} tall={tall} />
          ))}
          {chosen === null ? null : (
            <rect class="selection" x={left * each} y={0} width={(right - left) * each} height={tall} />
          )}
          <rect class="cursor" x={cursor.value * each} y={0} width={each} height={tall} />
        </svg>
      </div>
      <Axis known={known} width={width} />
      <p class="legend">
        <span class="at">{describe(known, cursor.value, zone)}</span>
        <span>
          {known.complete ? `${countText(known.total, 'row')} in the range` : countText(known.total, 'loaded row')} ·{' '}
          {writeDuration(step)} a bar · {instant(bounds.start, HOUR, zone)} to {instant(bounds.end, HOUR, zone)}{' '}
          {zoneName(bounds.start, zone)}
        </span>
      </p>
    </>
  );
}

interface StackProps {
  readonly x: number;
  readonly width: number;
  readonly bar: Bar;
  readonly highest: number;
  readonly tall: number;
}

/** One bar: the gravest at the bottom, where it is compared best, and never too low to be seen. */
function Stack({ x, width, bar, highest, tall }: StackProps) {
  let top = tall;
  return (
    <>
      {PARTS.map((part) => {
        const count = bar[part] ?? 0;
        if (count === 0) return null;
        const height = Math.max(1.5, (count / highest) * (tall - 4));
        top -= height;
        return (
          <rect
            key={part}
            class={part}
            x={x + 0.5}
            y={Math.max(0, top)}
            width={Math.max(1, width - 1)}
            height={height}
          />
        );
      })}
    </>
  );
}

function Axis({ known: { bounds, start, step, count }, width }: { readonly known: Counts; readonly width: number }) {
  const { zone } = search.value;
  const ticks = ticksOf(bounds, zone, Math.floor(width / 90));
  const distance = (ticks[1] ?? 0) - (ticks[0] ?? 0);
  const leftOf = (at: number): number => ((at - start) / (step * count)) * width;
  return (
    <div class="axis" aria-hidden="true">
      {ticks.map((at) => (
        // Without a label where there is no room for it.
        <span key={at} style={{ left: `${leftOf(at)}px` }}>
          {width - leftOf(at) < LABEL ? null : tickText(at, distance, zone)}
        </span>
      ))}
    </div>
  );
}

function sumOf(bar: Bar): number {
  return PARTS.reduce((sum, part) => sum + (bar[part] ?? 0), 0);
}

function describe({ start, step, bars }: Counts, index: number, zone: Zone): string {
  const bar = bars.get(index) ?? {};
  const parts = PARTS.flatMap((part) => (bar[part] === undefined ? [] : [`${bar[part].toLocaleString('en')} ${part}`]));
  return `${instant(start + index * step, step, zone)} ${zoneName(start, zone)}: ${parts.length === 0 ? 'no rows' : parts.join(', ')}`;
}

function instant(at: number, step: number, zone: Zone): string {
  return writeInstant(BigInt(Math.floor(at)) * 1000n, zone).slice(0, step < 1000 ? 23 : step < HOUR ? 19 : 16);
}

function writeDuration(milliseconds: number): string {
  const [size, unit] =
    (
      [
        [86_400_000, 'd'],
        [3_600_000, 'h'],
        [60_000, 'min'],
        [1000, 's'],
      ] as const
    ).find(([one]) => milliseconds >= one) ?? ([1, 'ms'] as const);
  return `${Math.round((milliseconds / size) * 10) / 10} ${unit}`;
}
