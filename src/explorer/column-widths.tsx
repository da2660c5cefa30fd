import { signal } from '@preact/signals';
import { useRef } from 'preact/hooks';

const STORED = 'logquay.widths';
const [LEAST, MOST] = [48, 1200];

/** Widths that were set by hand, in pixels, by column: the browser remembers them. */
export const columnWidths = signal<ReadonlyMap<string, number>>(load());

function load(): Map<string, number> {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(STORED) ?? '[]');
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
  localStorage.setItem(STORED, JSON.stringify([...next].slice(-200)));
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
