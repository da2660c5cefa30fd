import { signal, computed, effect } from '@preact/signals';
import { useRef, useEffect } from 'preact/hooks';
import { ofBrowser } from './embed';
import { type Json, type JsonObject, member, writeExactly } from './exact-json';
import { microsOf, writeInstant, type Zone } from './time-range';
import { reading } from './live';
import { failure, held, isLog, result, running } from './run';
import { search } from './search';
import { severityOf, valueAt } from './severity';
import { firstOf } from './visible-text';

const STORED = 'logquay.widths';
const [LEAST, MOST] = [48, 1200];

/** Widths that were set by hand, in pixels, by column: the browser remembers them. */
export const columnWidths = signal<ReadonlyMap<string, number>>(load());

function load(): Map<string, number> {
  try {
    const found: unknown = JSON.parse(ofBrowser.getItem(STORED) ?? '[]');
    return new Map(
      Array.isArray(found) ? (found as [string, number][]).filter(([, width]) => width >= LEAST && width <= MOST) : [],
    );
  } catch {
    return new Map();
  }
}

function setWidth(column: string, width: number): void {
  const next = new Map(columnWidths.value);
  next.set(column, Math.min(MOST, Math.max(LEAST, Math.round(width))));
  columnWidths.value = next;
  ofBrowser.setItem(STORED, JSON.stringify([...next].slice(-200)));
}

/** The edge of a column's head: drawn, or moved by the arrow keys. */
export function WidthHandle({ column }: { readonly column: string }) {
  const begun = useRef<{ readonly x: number; readonly width: number } | null>(null);
  const widthNow = (element: Element): number => element.parentElement?.getBoundingClientRect().width ?? 200;
  return (
    <span
      class="handle"
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={`Width of ${column}`}
      aria-valuenow={columnWidths.value.get(column) ?? 200}
      aria-valuemin={LEAST}
      aria-valuemax={MOST}
      onKeyDown={(event) => {
        const step = { ArrowLeft: -16, ArrowRight: 16 }[event.key];
        if (step === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        setWidth(column, widthNow(event.currentTarget) + step);
      }}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        begun.current = { x: event.clientX, width: widthNow(event.currentTarget) };
      }}
      onPointerMove={(event) => {
        if (begun.current !== null) setWidth(column, begun.current.width + event.clientX - begun.current.x);
      }}
      onPointerUp={() => (begun.current = null)}
    />
  );
}

/** Pixels; the style holds the same: rows are placed by their number. */
const ROW = 26;
/** Rows that are drawn above and below what is seen. */
const SPARE = 12;
/** UTF-16 units of a cell that are drawn: more is not seen on one line. */
const LONGEST_CELL = 400;
/** Columns that are drawn: a row may have thousands. */
const MOST_COLUMNS = 60;

/** There is no room for the year and milliseconds. */
const narrow = signal(false);
const narrowScreen = matchMedia('(max-width: 48rem)');
narrow.value = narrowScreen.matches;
narrowScreen.addEventListener('change', ({ matches }) => (narrow.value = matches));

const scrolled = signal(0);
const height = signal(600);
/** Rows by which what is drawn moves on: most frames of a scroll draw nothing anew. */
const STRIDE = 6;
const first = computed(() => Math.max(0, Math.floor(scrolled.value / ROW / STRIDE) * STRIDE - SPARE));
const last = computed(() => Math.ceil((scrolled.value + height.value) / ROW / STRIDE) * STRIDE + SPARE);

/** The row that the keyboard is on; -1: none. */
export const active = signal(-1);
/** The row that is shown in whole; null: none. */
export const opened = signal<JsonObject | null>(null);

/** Rows of log tables are a time, the chosen fields and a message; those of any other query have their own columns. */
const columns = computed<readonly string[]>(() =>
  (isLog.value ? ['timestamp', ...search.value.columns, 'event_message'] : (result.value?.columns ?? [])).slice(
    0,
    MOST_COLUMNS,
  ),
);

let shown = 0;
effect(() => {
  const known = result.value;
  if (known?.number === shown) return;
  shown = known?.number ?? 0;
  active.value = -1;
  const id = search.peek().row;
  opened.value = id === '' ? null : (known?.rows.find((row) => member(row, 'id') === id) ?? null);
});

// Nothing moves under who reads.
const hovered = signal(false);
effect(() => {
  reading.value = hovered.value || scrolled.value > 0 || opened.value !== null;
});

/** The rows, of which only those that are seen are in the document. */
export function RowList() {
  const scroller = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const watch = new ResizeObserver(() => {
      height.value = element.clientHeight;
    });
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  const rows = result.value?.rows ?? [];
  const [from, to] = [first.value, Math.min(rows.length, last.value)];
  // The same list as long as it is the same: rows with the same properties are not drawn anew.
  const drawn = columns.value;
  const log = isLog.value;

  const go = (to: number): void => {
    if (rows.length === 0 || scroller.current === null) return;
    const next = Math.min(rows.length - 1, Math.max(0, to));
    active.value = next;
    if (opened.value !== null) opened.value = rows[next] ?? null;
    const element = scroller.current;
    const top = next * ROW;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + 2 * ROW > element.scrollTop + element.clientHeight) {
      element.scrollTop = top + 2 * ROW - element.clientHeight;
    }
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor(height.value / ROW) - 2);
    const steps: Readonly<Record<string, () => void>> = {
      ArrowDown: () => go(active.value + 1),
      ArrowUp: () => go(active.value - 1),
      PageDown: () => go(active.value + page),
      PageUp: () => go(active.value - page),
      Home: () => go(0),
      End: () => go(rows.length - 1),
      Enter: () => {
        opened.value = rows[active.value] ?? null;
      },
    };
    const step = Object.hasOwn(steps, event.key) ? steps[event.key] : undefined;
    if (step === undefined) return;
    event.preventDefault();
    step();
  };

  return (
    <div
      ref={scroller}
      class={log ? 'rows log' : 'rows'}
      role="grid"
      aria-label="Rows"
      aria-rowcount={rows.length + 1}
      aria-busy={running.value}
      tabIndex={0}
      aria-activedescendant={active.value >= from && active.value < to ? `row-${active.value}` : undefined}
      onScroll={(event) => {
        scrolled.value = event.currentTarget.scrollTop;
      }}
      onKeyDown={onKeyDown}
      onPointerEnter={() => (hovered.value = true)}
      onPointerLeave={() => (hovered.value = false)}
    >
      <div class="row head" role="row" aria-rowindex={1}>
        {drawn.map((column, i) => (
          <span key={column} class="cell" role="columnheader" style={widthOf(column)}>
            {firstOf(column, 80)}
            {log && i === drawn.length - 1 ? null : <WidthHandle column={column} />}
          </span>
        ))}
      </div>
      <div class="space" role="presentation" style={{ height: `${rows.length * ROW}px` }}>
        {rows.slice(from, to).map((row, i) => (
          <Row key={from + i} row={row} index={from + i} columns={drawn} zone={search.value.zone} />
        ))}
      </div>
      {held.value ? <NotRun /> : null}
      {result.value !== null && rows.length === 0 && failure.value === null ? <NoRows /> : null}
    </div>
  );
}

interface RowProps {
  readonly row: JsonObject;
  readonly index: number;
  readonly columns: readonly string[];
  readonly zone: Zone;
}

function Row({ row, index, columns: drawn, zone }: RowProps) {
  const severity = severityOf(row);
  const state = `${opened.value === row ? ' opened' : ''}${active.value === index ? ' active' : ''}`;
  return (
    <div
      id={`row-${index}`}
      class={`row ${severity ?? 'plain'}${state}`}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={opened.value === row}
      style={{ transform: `translateY(${index * ROW}px)` }}
      onClick={() => {
        active.value = index;
        opened.value = opened.value === row ? null : row;
      }}
    >
      {drawn.map((column) => (
        <span key={column} class="cell" role="gridcell" style={widthOf(column)}>
          {column === 'event_message' && severity !== null ? <span class="visually-hidden">{severity}: </span> : null}
          <bdi>{cellText(column, isLog.value ? valueAt(row, column.split('.')) : member(row, column), zone)}</bdi>
        </span>
      ))}
    </div>
  );
}

/** A cell on one line. Where no type is known, only a column called so is a time: any number of 16 digits might be one. */
function cellText(column: string, value: Json | undefined, zone: Zone): string {
  const type = result.value?.types?.find(({ name }) => name === column)?.type.kind;
  // Dates without a zone come as text.
  if (narrow.value && type === 'DATETIME' && typeof value === 'string') return value.slice(5, 19).replace('T', ' ');
  const isTime = type === undefined ? /(?:^|_)(?:timestamp|time|at)$/i.test(column) : type === 'TIMESTAMP';
  const micros = isTime ? microsOf(value) : null;
  if (micros !== null) return narrow.value ? writeInstant(micros, zone).slice(5, 19) : writeInstant(micros, zone);
  if (value === null || value === undefined) return '';
  return firstOf(typeof value === 'string' ? value : writeExactly(value), LONGEST_CELL);
}

function widthOf(column: string): { readonly width?: string } {
  const width = columnWidths.value.get(column);
  return width === undefined ? {} : { width: `${width}px` };
}

/** The price is in the line above. */
function NotRun() {
  return (
    <div class="empty">
      <p>
        <strong>This search has not run yet.</strong>
      </p>
      <p>It costs more than a cent: Run, or Ctrl+Enter, shows its rows.</p>
    </div>
  );
}

function NoRows() {
  return (
    <div class="empty">
      <p>
        <strong>No rows in this range.</strong>
      </p>
      <p>
        Choose a longer range above, or take a clause out of the query. Where nothing was ever written,{' '}
        {result.value?.bytesBilled === null ? (
          <>
            have a log shipper append rows as JSON lines to files of the folder <code>DATA_DIR</code>, such as{' '}
            <code>raw_edge_logs.ndjson</code>, or send them to the collector (<code>COLLECT=on</code>).
          </>
        ) : (
          'see that logs arrive in the data set of BigQuery.'
        )}
      </p>
    </div>
  );
}
