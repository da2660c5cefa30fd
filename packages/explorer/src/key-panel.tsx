import { useSignal, signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { focusQuery } from './editor/code-field';
import { runFirst } from './run';
import { connect, connecting, keyFault, needsKey, remembered, forget, key } from './session';
import { ask } from './api';
import { framed } from './embed';
import { Popup } from './popup';
import { type Theme, theme, THEMES } from './theme';

/** Asks for the key, once. */
export function KeyDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const keep = useSignal(remembered.value);
  useEffect(() => {
    if (needsKey.value && dialog.current?.open === false) dialog.current.showModal();
    else if (!needsKey.value && dialog.current?.open === true) {
      dialog.current.close();
      focusQuery();
    }
  }, [needsKey.value]);

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const candidate = field.current?.value.trim() ?? '';
    if (candidate === '') return;
    await connect(candidate, keep.value);
    if (needsKey.value) {
      field.current?.select();
      return;
    }
    if (field.current !== null) field.current.value = '';
    await runFirst();
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

/** What `GET /api/key` says. */
interface KeyDescription {
  readonly name: string;
  readonly endpoints: readonly string[];
  readonly pinned: readonly string[];
  readonly redacted: boolean;
  readonly mayQuery: boolean;
  readonly expires: string | null;
  readonly limits: { readonly requestsPerSecond: number | null };
  readonly budgetLeft: number | null;
}

const described = signal<KeyDescription | null>(null);
const fault = signal('');

let current: AbortController | null = null;

async function load(): Promise<void> {
  current?.abort();
  described.value = null;
  fault.value = '';
  if (key.value === null) return;
  const { signal } = (current = new AbortController());
  try {
    const { text } = await ask('api/key', new Map(), key.value, signal);
    described.value = (JSON.parse(text) as { result: KeyDescription }).result;
  } catch (error) {
    if (!signal.aborted) fault.value = error instanceof Error ? error.message : String(error);
  }
}

/** What the key may read, on one panel. */
export function KeyPanel() {
  if (key.value === null) return null;
  return (
    <Popup label="Key" onOpen={() => void load()}>
      {(close) => (
        <>
          {described.value === null ? <p>{fault.value || 'Loading…'}</p> : <Facts known={described.value} />}
          <p>
            <label for="colours">Colours</label>{' '}
            <select
              id="colours"
              value={theme.value}
              onChange={(event) => (theme.value = event.currentTarget.value as Theme)}
            >
              {THEMES.map((one) => (
                <option key={one} value={one}>
                  {one}
                </option>
              ))}
            </select>
          </p>
          {framed ? null : (
            <button
              type="button"
              onClick={() => {
                described.value = null;
                close();
                forget();
              }}
            >
              Change key
            </button>
          )}
        </>
      )}
    </Popup>
  );
}

function Facts({ known }: { readonly known: KeyDescription }) {
  const { name, endpoints, pinned, redacted, mayQuery, expires, limits, budgetLeft } = known;
  const rate = limits.requestsPerSecond;
  return (
    <dl class="facts">
      <dt>Name</dt>
      <dd>{name}</dd>
      <dt>Endpoints</dt>
      <dd>{endpoints.join(', ') || 'none'}</dd>
      <dt>Fixed</dt>
      <dd>{pinned.length === 0 ? 'no parameter' : pinned.join(', ')}</dd>
      <dt>Queries</dt>
      <dd>{mayQuery ? 'of your own, where an endpoint takes them' : 'none of your own'}</dd>
      <dt>Addresses</dt>
      <dd>{redacted ? 'are masked' : 'are shown'}</dd>
      <dt>Expires</dt>
      <dd>{expires ?? 'never'}</dd>
      <dt>Requests</dt>
      <dd>{rate === null || rate === 0 ? 'without a limit' : `${rate} a second`}</dd>
      <dt>Budget</dt>
      <dd>
        {budgetLeft === null ? (
          'none set'
        ) : (
          <>
            <meter min={0} max={1} value={budgetLeft} aria-label="Left of today" /> {Math.round(budgetLeft * 100)} % of
            today left
          </>
        )}
      </dd>
    </dl>
  );
}
