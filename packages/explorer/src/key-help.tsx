import { useEffect, useRef } from 'preact/hooks';

import { focusQuery } from './editor/code-field';
import { focusRows, onRowKey } from './row-list';

const KEYS: readonly (readonly [string, string])[] = [
  ['/', 'to the query'],
  ['j k', 'the next row, the one before'],
  ['Enter', 'opens the row; in the query, runs it'],
  ['Ctrl+Enter', 'runs from anywhere'],
  ['Esc', 'closes what is open; cancels a run'],
  ['Ctrl+Space', 'completions'],
  ['Ctrl+.', 'what was probably meant'],
  ['← → Shift Enter', 'in the histogram: move, choose, zoom in'],
  ['?', 'this list'],
];

/** Keys that work wherever nothing is being written, and the list of them. */
export function KeyHelp() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const [target] = event.composedPath();
      const isWriting = target instanceof Element && target.matches('input, select, textarea, [contenteditable=true]');
      if (isWriting || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (document.querySelector('dialog[open]') !== null) return;
      if (event.key === '/') focusQuery();
      else if (event.key === '?') dialog.current?.showModal();
      else if (event.key === 'j' || event.key === 'k') {
        focusRows();
        onRowKey(event.key);
      } else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <dl class="facts">
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}
