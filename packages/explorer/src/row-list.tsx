import type { SqlType } from '@logquay/googlesql/types';
import { signal, computed, effect } from '@preact/signals';
import { useRef, useEffect } from 'preact/hooks';
import { ofBrowser } from './embed';
import { EmptyState, LoadOlder } from './empty-states';
import { type Json, type JsonObject, valueAt, writeExactly } from './exact-json';
import { fieldsOf, nameOf, ROW } from './field-values';
import { instantOf, isLog, messageOf, middleColumns, placeOf, roles, shownColumns, timeOf } from './log';
import { microsOf, writeInstant, type Zone, zoneName } from './time-range';
import { reading } from './live';
import { result } from './result';
import { running } from './run';
import { change, search } from './search';
import { severityOf } from './severity';
import { hasStyle, Text } from './text';
import { firstOf, visibleText } from './visible-text';

const STORED = 'logquay.widths';
const [LEAST, MOST] = [48, 1200];

/** Widths that were set by hand, in pixels, by column: the browser remembers them. */
const columnWidths = signal<ReadonlyMap<string, number>>(load());

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
function WidthHandle({ column }: { readonly column: string }) {
  const begun = useRef<{ readonly x: number; readonly width: number } | null>(null);
  const widthNow = (element: Element): number => element.parentElement?.getBoundingClientRect().width ?? 200;
  return (
    <span
      class="handle"
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={`Width of ${nameOf(column)}`}
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

/** Pixels of a row on one line; the style holds the same: rows are placed by their number. */
const ROW_HEIGHT = 26;
/** Pixels of a line of a wrapped message, and of what is around it. */
const [LINE, AROUND] = [19, 7];
const MOST_LINES = 40;
/** Rows that are drawn above and below what is seen. */
const SPARE = 12;
/** UTF-16 units of a cell that are drawn: more is not seen on one line. */
const [LONGEST_CELL, LONGEST_WRAPPED] = [400, 4000];
/** Columns that are drawn: a row may have thousands. */
const MOST_COLUMNS = 60;

/** There is no room for the year, milliseconds, and what is not needed at once. */
export const narrow = signal(false);
const narrowScreen = matchMedia('(max-width: 48rem)');
narrow.value = narrowScreen.matches;
narrowScreen.addEventListener('change', ({ matches }) => (narrow.value = matches));

/** Whether messages go on over several lines. */
export const wrapped = signal(false);

interface Sorting {
  readonly column: string;
  readonly descending: boolean;
}
/** null: as the service gives them. */
export const sorting = signal<Sorting | null>(null);

const columns = computed(() => shownColumns.value.slice(0, MOST_COLUMNS));
effect(() => {
  const by = sorting.value?.column;
  if (by !== undefined && !columns.value.includes(by)) sorting.value = null;
});

/** The rows in the order in which they are shown. */
export const shownRows = computed<readonly JsonObject[]>(() => {
  const rows = result.value?.rows ?? [];
  const by = sorting.value;
  if (by === null) return rows;
  const valueOf = (row: JsonObject): unknown => {
    const value = isTimeColumn(by.column) ? timeOf(row) : by.column === ROW ? null : valueAt(row, pathOf(by.column));
    return typeof value === 'object' && value !== null ? writeExactly(value) : value;
  };
  const keyed = rows.map((row) => ({ row, value: valueOf(row) }));
  const sign = by.descending ? -1 : 1;
  // What has no value is last, either way.
  const isMissing = (value: unknown): number => (value === null || value === undefined ? 1 : 0);
  keyed.sort(
    (a, b) =>
      isMissing(a.value) - isMissing(b.value) || sign * (less(a.value, b.value) ? -1 : less(b.value, a.value) ? 1 : 0),
  );
  return keyed.map(({ row }) => row);
});

const less = (a: unknown, b: unknown): boolean => (a as number) < (b as number);
const isTimeColumn = (column: string): boolean => column === roles.value.time?.path.join('.');
/** Names of columns of groups may have dots. */
const pathOf = (column: string): string[] =>
  result.value?.columns.includes(column) === true ? [column] : column.split('.');

/** Types by path. */
const types = computed(() => {
  const known = result.value?.types ?? [];
  const all = new Map<string, SqlType['kind']>(fieldsOf(known).map(({ path, type }) => [path, type.kind]));
  for (const { name, type } of known) all.set(name, type.kind);
  return all;
});
const numeric = computed<ReadonlySet<string>>(
  () =>
    new Set(
      columns.value.filter(
        (one) => /^(?:INT64|FLOAT64|NUMERIC|BIGNUMERIC)$/.test(types.value.get(one) ?? '') && !isTimeColumn(one),
      ),
    ),
);

const scrolled = signal(0);
const [height, width] = [signal(600), signal(800)];
/** Pixels of a letter. */
const letter = signal(8);
/** Rows by which what is drawn moves on: most frames of a scroll draw nothing anew. */
const STRIDE = 6;

/** Where each row begins and the last ends; null: all are of one height. */
const offsets = computed<Float64Array | null>(() => {
  if (!wrapped.value || !isLog.value || columns.value.at(-1) !== (roles.value.message?.path.join('.') ?? ROW))
    return null;
  const rows = shownRows.value;
  const taken = columns.value.slice(0, -1).reduce((sum, one) => sum + (columnWidths.value.get(one) ?? 216), 0);
  const fitting = Math.max(10, Math.floor((Math.max(192, width.value - taken) - 24) / letter.value));
  const all = new Float64Array(rows.length + 1);
  rows.forEach((row, i) => (all[i + 1] = (all[i] ?? 0) + AROUND + LINE * linesOf(lastText(row), fitting)));
  return all;
});

function linesOf(text: string, fitting: number): number {
  if (text.length <= fitting && !text.includes('\n')) return 1;
  const lines = text.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / fitting)), 0);
  return Math.min(MOST_LINES, lines);
}

/** What a wrapped row shows of its last column. */
function lastText(row: JsonObject): string {
  return cut(cellText(columns.value.at(-1) ?? ROW, row, 'utc'), LONGEST_WRAPPED)
    .replaceAll('\t', '    ')
    .trimEnd();
}

const topOf = (index: number): number => offsets.value?.[index] ?? index * ROW_HEIGHT;

/** The row at a height. */
function rowAt(top: number): number {
  const all = offsets.value;
  if (all === null) return top / ROW_HEIGHT;
  let [low, high] = [0, all.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((all[middle] ?? 0) <= top) low = middle;
    else high = middle - 1;
  }
  return low;
}

const first = computed(() => Math.max(0, Math.floor(rowAt(scrolled.value) / STRIDE) * STRIDE - SPARE));
const last = computed(() => Math.ceil(rowAt(scrolled.value + height.value) / STRIDE) * STRIDE + SPARE);

/** The row that the keyboard is on; -1: none. */
export const active = signal(-1);
/** The row that is shown in whole; null: none. */
export const opened = signal<JsonObject | null>(null);

export function closeRow(): void {
  opened.value = null;
  if (search.peek().row !== '') change({});
}

/** What scrolls, and what has the keyboard. */
let pane: HTMLElement | null = null;
let grid: HTMLElement | null = null;
let shown = 0;
effect(() => {
  const known = result.value;
  const { row } = search.value;
  if (known?.number !== shown) {
    shown = known?.number ?? 0;
    active.value = -1;
    opened.value = null;
  }
  // The row of a link may come with the older ones.
  const index = row === '' || opened.peek() !== null ? -1 : shownRows.peek().findIndex((one) => placeOf(one) === row);
  if (index < 0) return;
  opened.value = shownRows.peek()[index] ?? null;
  requestAnimationFrame(() => goToRow(index));
});

// Nothing moves under who reads.
const hovered = signal(false);
effect(() => {
  reading.value = hovered.value || scrolled.value > 0 || opened.value !== null;
});

/** Moves the keyboard, and what is open, to a row. */
function goToRow(to: number): void {
  const rows = shownRows.peek();
  if (rows.length === 0 || pane === null) return;
  const next = Math.min(rows.length - 1, Math.max(0, to));
  active.value = next;
  if (opened.peek() !== null) opened.value = rows[next] ?? null;
  const [top, bottom] = [topOf(next), topOf(next + 1)];
  if (top < pane.scrollTop) pane.scrollTop = top;
  // The head covers the height of a row.
  else if (bottom + ROW_HEIGHT > pane.scrollTop + pane.clientHeight) {
    pane.scrollTop = bottom + ROW_HEIGHT - pane.clientHeight;
  }
}

export function focusRows(): void {
  grid?.focus();
}

/** Moves, or opens, by a key. @returns whether it is one of those */
export function onRowKey(key: string): boolean {
  const page = Math.max(1, Math.floor(height.peek() / ROW_HEIGHT) - 2);
  const at = active.peek();
  const steps: Readonly<Record<string, () => void>> = {
    ArrowDown: () => goToRow(at + 1),
    j: () => goToRow(at + 1),
    ArrowUp: () => goToRow(at - 1),
    k: () => goToRow(at - 1),
    PageDown: () => goToRow(at + page),
    PageUp: () => goToRow(at - page),
    Home: () => goToRow(0),
    End: () => goToRow(shownRows.peek().length - 1),
    Enter: () => (opened.value = shownRows.peek()[at] ?? null),
  };
  const step = Object.hasOwn(steps, key) ? steps[key] : undefined;
  step?.();
  return step !== undefined;
}

/** The rows, of which only those that are seen are in the document. */
export function RowList() {
  const [scroller, table] = [useRef<HTMLDivElement>(null), useRef<HTMLDivElement>(null)];
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    pane = element;
    grid = table.current;
    const context = document.createElement('canvas').getContext('2d');
    if (context !== null) {
      context.font = getComputedStyle(element).font;
      letter.value = context.measureText('m'.repeat(100)).width / 100 || 8;
    }
    const watch = new ResizeObserver(() => {
      height.value = element.clientHeight;
      width.value = element.clientWidth;
    });
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  const rows = shownRows.value;
  const [from, to] = [first.value, Math.min(rows.length, last.value)];
  // Elements are used again for other rows: making new ones takes longer.
  const slots = Math.ceil(height.value / ROW_HEIGHT) + 2 * (SPARE + STRIDE);
  // The same list as long as it is the same: rows with the same properties are not drawn anew.
  const drawn = columns.value;
  const log = isLog.value;
  return (
    <div
      ref={scroller}
      class={`rows${log ? ' log' : ''}${offsets.value === null ? '' : ' wrapped'}`}
      onScroll={(event) => {
        scrolled.value = event.currentTarget.scrollTop;
      }}
      onPointerEnter={() => (hovered.value = true)}
      onPointerLeave={() => (hovered.value = false)}
    >
      <div
        ref={table}
        role="grid"
        aria-label="Rows"
        aria-rowcount={rows.length + 1}
        aria-busy={running.value}
        tabIndex={0}
        aria-activedescendant={active.value >= from && active.value < to ? `row-${active.value}` : undefined}
        onKeyDown={(event) => {
          const isOwn = event.target === event.currentTarget && !event.ctrlKey && !event.metaKey && !event.altKey;
          if (isOwn && onRowKey(event.key)) event.preventDefault();
        }}
      >
        <div class="row head" role="row" aria-rowindex={1}>
          {drawn.map((column, i) => (
            <Head key={column} column={column} isLast={log && i === drawn.length - 1} />
          ))}
        </div>
        <div class="space" role="presentation" style={{ height: `${topOf(rows.length)}px` }}>
          {rows.slice(from, to).map((row, i) => (
            <Row
              key={(from + i) % slots}
              row={row}
              index={from + i}
              top={topOf(from + i)}
              columns={drawn}
              zone={search.value.zone}
              isWrapped={offsets.value !== null}
            />
          ))}
        </div>
      </div>
      <LoadOlder />
      <EmptyState />
    </div>
  );
}

/** The name of a column: a click sorts what is loaded by it; those that were chosen can be moved and taken away. */
function Head({ column, isLast }: { readonly column: string; readonly isLast: boolean }) {
  const by = sorting.value?.column === column ? sorting.value : null;
  const name = nameOf(column);
  const isTime = isTimeColumn(column);
  const movable = middleColumns.value;
  const place = movable.indexOf(column);
  const move = (by: -1 | 1): void => {
    const next = movable.filter((one) => one !== column);
    change({ columns: next.toSpliced(place + by, 0, column) });
  };
  return (
    <span
      class={numeric.value.has(column) ? 'cell number' : 'cell'}
      role="columnheader"
      style={widthOf(column)}
      aria-sort={by === null ? undefined : by.descending ? 'descending' : 'ascending'}
    >
      <button
        type="button"
        class="sort"
        title="Sort what is loaded"
        onClick={() => {
          const next = by === null ? { column, descending: isTime } : { column, descending: !by.descending };
          sorting.value = by !== null && by.descending !== isTime ? null : next;
        }}
      >
        {firstOf(name, 80)}
        {isTime ? ` · ${zoneName(Date.now(), search.value.zone)}` : ''}
        {by === null ? '' : by.descending ? ' ▾' : ' ▴'}
      </button>
      {place < 0 ? null : (
        <span class="tools">
          <button type="button" aria-label={`Move ${name} to the left`} disabled={place <= 0} onClick={() => move(-1)}>
            ‹
          </button>
          <button
            type="button"
            aria-label={`Move ${name} to the right`}
            disabled={place === movable.length - 1}
            onClick={() => move(1)}
          >
            ›
          </button>
          <button
            type="button"
            aria-label={`Remove ${name}`}
            disabled={movable.length < 2 && !isLog.value}
            onClick={() => change({ columns: movable.filter((one) => one !== column) })}
          >
            ×
          </button>
        </span>
      )}
      {isLast ? null : <WidthHandle column={column} />}
    </span>
  );
}

interface RowProps {
  readonly row: JsonObject;
  readonly index: number;
  readonly top: number;
  readonly columns: readonly string[];
  readonly zone: Zone;
  readonly isWrapped: boolean;
}

function Row({ row, index, top, columns: drawn, zone, isWrapped }: RowProps) {
  const severity = severityOf(row, isLog.value ? roles.value.severity : null);
  const state = `${opened.value === row ? ' opened' : ''}${active.value === index ? ' active' : ''}`;
  return (
    <div
      id={`row-${index}`}
      class={`row ${severity ?? 'plain'}${state}`}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={opened.value === row}
      style={{ transform: `translateY(${top}px)`, ...(isWrapped ? { height: `${topOf(index + 1) - top}px` } : {}) }}
      onClick={() => {
        active.value = index;
        if (opened.value === row) closeRow();
        else opened.value = row;
      }}
    >
      {drawn.map((column, i) => {
        const isLast = i === drawn.length - 1;
        const text = isWrapped && isLast ? lastText(row) : cut(oneLine(cellText(column, row, zone)), LONGEST_CELL);
        return (
          <span
            key={column}
            class={numeric.value.has(column) ? 'cell number' : 'cell'}
            role="gridcell"
            style={widthOf(column)}
          >
            {isLast && severity !== null ? <span class="visually-hidden">{severity}: </span> : null}
            <bdi>{hasStyle(text) ? <Text text={text} /> : visibleText(text)}</bdi>
          </span>
        );
      })}
    </div>
  );
}

const oneLine = (text: string): string => (/[\r\n\t]/.test(text) ? text.replace(/[\r\n\t]+/g, ' ') : text);
const cut = (text: string, longest: number): string => (text.length > longest ? `${text.slice(0, longest)}…` : text);

/** What a number at a path of a row means as a time. null: it is none */
export function timeAt(path: readonly string[], value: Json): string | null {
  const column = path.join('.');
  const isTime = types.value.get(column) === 'TIMESTAMP' || (isTimeColumn(column) && typeof value !== 'string');
  const unit = isTimeColumn(column) ? (roles.value.time?.unit ?? null) : null;
  const micros = isTime ? instantOf(value, unit) : null;
  return micros === null ? null : writeInstant(micros, search.value.zone, true);
}

/** The whole text of a cell. */
function cellText(column: string, row: JsonObject, zone: Zone): string {
  if (column === ROW) return messageOf(row);
  const isTime = isTimeColumn(column);
  const value = valueAt(row, pathOf(column));
  const type = types.value.get(column);
  // Dates without a zone come as text.
  if (narrow.value && type === 'DATETIME' && typeof value === 'string') return value.slice(5, 19).replace('T', ' ');
  const micros = isTime ? timeOf(row) : type === 'TIMESTAMP' ? microsOf(value) : null;
  if (micros !== null) return narrow.value ? writeInstant(micros, zone).slice(5, 19) : writeInstant(micros, zone);
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : writeExactly(value);
}

function widthOf(column: string): { readonly width?: string } {
  const width = columnWidths.value.get(column);
  return width === undefined ? {} : { width: `${width}px` };
}
