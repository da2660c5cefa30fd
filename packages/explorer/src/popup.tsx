import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface PopupProps {
  readonly label: ComponentChildren;
  readonly onOpen?: () => void;
  readonly children: (close: () => void) => ComponentChildren;
}

/** Pixels between a panel and the edge of the window. */
const MARGIN = 8;

/** A button with a panel below it, within the window. Escape closes it, and a click or the focus elsewhere. */
export function Popup({ label, onOpen, children }: PopupProps) {
  const popup = useRef<HTMLDetailsElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const close = (): void => {
    if (popup.current !== null) popup.current.open = false;
  };
  useElsewhere(popup, close);
  const place = (): void => {
    if (panel.current === null) return;
    panel.current.style.translate = '';
    const { left, right } = panel.current.getBoundingClientRect();
    const shift = Math.max(MARGIN - left, Math.min(0, innerWidth - MARGIN - right));
    // What is moved has the panels within it in itself, also those of a narrow window.
    if (shift !== 0) panel.current.style.translate = `${shift}px`;
  };
  return (
    <details
      ref={popup}
      class="popup"
      onToggle={(event) => {
        if (!event.currentTarget.open) return;
        onOpen?.();
        place();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || popup.current?.open !== true) return;
        event.preventDefault();
        close();
        popup.current.querySelector('summary')?.focus();
      }}
    >
      <summary>{label}</summary>
      <div ref={panel} class="panel">
        {children(close)}
      </div>
    </details>
  );
}

/** Calls `close` for a click or the focus outside of an element. */
export function useElsewhere(element: RefObject<HTMLElement | null>, close: () => void): void {
  const latest = useRef(close);
  latest.current = close;
  useEffect(() => {
    const onEvent = (event: Event): void => {
      if (element.current !== null && !event.composedPath().includes(element.current)) latest.current();
    };
    document.addEventListener('pointerdown', onEvent);
    document.addEventListener('focusin', onEvent);
    return () => {
      document.removeEventListener('pointerdown', onEvent);
      document.removeEventListener('focusin', onEvent);
    };
  }, []);
}
