import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

import { runFirst } from './run';
import { connect, connecting, keyFault, needsKey, remembered } from './session';

/** Asks for the key, once. */
export function KeyDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const keep = useSignal(remembered.value);
  useEffect(() => {
    if (needsKey.value && dialog.current?.open === false) dialog.current.showModal();
    if (!needsKey.value) dialog.current?.close();
  }, [needsKey.value]);

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const candidate = field.current?.value.trim() ?? '';
    if (candidate === '') return;
    await connect(candidate, keep.value);
    if (needsKey.value) field.current?.select();
    else await runFirst();
  };

  return (
    <dialog ref={dialog} class="key-dialog" aria-labelledby="key-title" onCancel={(event) => event.preventDefault()}>
      <form onSubmit={(event) => void submit(event)} autocomplete="off">
        <h2 id="key-title">Key</h2>
        <p>
          The explorer shows what your key may read. The operator of this service makes keys with{' '}
          <code>npm run keys</code>; the first start prints one.
        </p>
        <label for="key">Key</label>
        <input
          ref={field}
          id="key"
          type="password"
          autocomplete="off"
          spellcheck={false}
          aria-describedby="key-fault"
        />
        <p id="key-fault" class="fault" role="alert">
          {keyFault.value}
        </p>
        <label class="check">
          <input
            type="checkbox"
            checked={keep.value}
            onChange={(event) => {
              keep.value = event.currentTarget.checked;
            }}
          />{' '}
          Remember it in this browser, not just in this tab
        </label>
        <button type="submit" class="primary" disabled={connecting.value}>
          {connecting.value ? 'Looking…' : 'Open'}
        </button>
      </form>
    </dialog>
  );
}
