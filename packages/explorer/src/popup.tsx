import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';

interface PopupProps {
  readonly label: string;
  /** Where the panel is aligned. */
  readonly side?: 'left' | 'right';
  readonly onOpen?: () => void;
  readonly children: (close: () => void) => ComponentChildren;
}

/** A button with a panel below it, which closes by Escape and where the focus leaves it. */
export function Popup({ label, side = 'right', onOpen, children }: PopupProps) {
  const popup = useRef<HTMLDetailsElement>(null);
  const close = (): void => {
    if (popup.current !== null) popup.current.open = false;
  };
  return (
    <details
      ref={popup}
      class="popup"
      onToggle={(event) => {
        if (event.currentTarget.open) onOpen?.();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || popup.current?.open !== true) return;
        event.preventDefault();
        close();
        popup.current.querySelector('summary')?.focus();
      }}
      onFocusOut={(event) => {
        const to = event.relatedTarget;
        if (to instanceof Node && popup.current?.contains(to) !== true) close();
      }}
    >
      <summary>{label}</summary>
      <div class={`panel ${side}`}>{children(close)}</div>
    </details>
  );
}
