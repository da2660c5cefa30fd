/** Searches of before, and those that were given a name: in the browser alone. */
import { effect, signal, useSignal } from '@preact/signals';
import { ofBrowser } from './embed';
import { result, run } from './run';
import { readFragment, search, writeFragment } from './search';
import { Popup } from './popup';
import { firstOf } from './visible-text';

export interface StoredSearch {
  readonly fragment: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Empty: it was not given one. */
  readonly name: string;
}

const STORED = { history: 'logquay.history', saved: 'logquay.saved' } as const;
const MOST = 50;

export const past = signal<readonly StoredSearch[]>(load(STORED.history));
export const saved = signal<readonly StoredSearch[]>(load(STORED.saved));

function load(name: string): readonly StoredSearch[] {
  try {
    const found: unknown = JSON.parse(ofBrowser.getItem(name) ?? '[]');
    return Array.isArray(found) ? found.filter(isStored).slice(0, MOST) : [];
  } catch {
    return [];
  }
}

function isStored(value: unknown): value is StoredSearch {
  const one = value as StoredSearch | null;
  return typeof one?.fragment === 'string' && typeof one.at === 'number' && typeof one.name === 'string';
}

// Each run that gave rows, once: the newest first.
effect(() => {
  if (result.value === null) return;
  const fragment = writeFragment({ ...search.peek(), row: '' });
  past.value = [
    { fragment, at: Date.now(), name: '' },
    ...past.peek().filter((one) => one.fragment !== fragment),
  ].slice(0, MOST);
  ofBrowser.setItem(STORED.history, JSON.stringify(past.peek()));
});

export function save(name: string): void {
  const fragment = writeFragment({ ...search.value, row: '' });
  saved.value = [{ fragment, at: Date.now(), name }, ...saved.value.filter((one) => one.name !== name)].slice(0, MOST);
  ofBrowser.setItem(STORED.saved, JSON.stringify(saved.value));
}

export function forgetSaved(name: string): void {
  saved.value = saved.value.filter((one) => one.name !== name);
  ofBrowser.setItem(STORED.saved, JSON.stringify(saved.value));
}

export function clearHistory(): void {
  past.value = [];
  ofBrowser.removeItem(STORED.history);
}

/** The name of a search; else its query, or its endpoint. */
export function labelOf({ fragment, name }: StoredSearch): string {
  const { endpoint, query, range } = readFragment(fragment);
  const last = range.kind === 'last' ? '' : `, ${new Date(range.start).toISOString().slice(0, 16)}`;
  return name !== '' ? name : `${query === '' ? endpoint : query}${last}`;
}

/** Searches of before and those with a name. */
export function HistoryMenu() {
  const name = useSignal('');
  return (
    <Popup label="History" side="left">
      {(close) => (
        <div class="history">
          <form
            onSubmit={(event) => {
              event.preventDefault();
              if (name.value.trim() === '') return;
              save(name.value.trim());
              name.value = '';
            }}
          >
            <input
              aria-label="Name of this search"
              placeholder="Name of this search"
              value={name.value}
              maxLength={80}
              onInput={(event) => (name.value = event.currentTarget.value)}
            />
            <button type="submit">Save</button>
          </form>
          <h2>Saved</h2>
          <Entries all={saved.value} close={close} remove={(one) => forgetSaved(one.name)} none="None yet." />
          <h2>Before</h2>
          <Entries all={past.value} close={close} remove={null} none="No search has been run in this browser." />
          <button type="button" class="link" onClick={clearHistory}>
            Clear
          </button>
        </div>
      )}
    </Popup>
  );
}

interface EntriesProps {
  readonly all: readonly StoredSearch[];
  readonly close: () => void;
  readonly remove: ((one: StoredSearch) => void) | null;
  readonly none: string;
}

function Entries({ all, close, remove, none }: EntriesProps) {
  if (all.length === 0) return <p class="quiet">{none}</p>;
  return (
    <ul class="choices">
      {all.map((one) => (
        <li key={one.fragment + one.name}>
          <button
            type="button"
            title={firstOf(labelOf(one), 500)}
            onClick={() => {
              search.value = readFragment(one.fragment);
              close();
              void run();
            }}
          >
            {firstOf(labelOf(one), 90)}
          </button>
          {remove === null ? null : (
            <button type="button" aria-label={`Remove ${one.name}`} onClick={() => remove(one)}>
              ×
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}
