/** Searches of before and those that were given a name, in the browser alone; and those that the operators share. */
import { effect, signal, useSignal } from '@preact/signals';
import { ask } from './api';
import { ofBrowser } from './embed';
import { result } from './result';
import { run } from './run';
import { isPinned, key } from './session';
import { copied } from './share';
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
let recorded = 0;
effect(() => {
  const known = result.value;
  if (known === null || known.number <= recorded) return;
  recorded = known.number;
  const fragment = writeFragment({ ...known.search, row: '' });
  past.value = [
    { fragment, at: Date.now(), name: '' },
    ...past.peek().filter((one) => one.fragment !== fragment),
  ].slice(0, MOST);
  ofBrowser.setItem(STORED.history, JSON.stringify(past.peek()));
});

const nowAs = (name: string): StoredSearch => ({
  fragment: writeFragment({ ...search.value, row: '' }),
  at: Date.now(),
  name,
});

export function save(name: string): void {
  saved.value = [nowAs(name), ...saved.value.filter((one) => one.name !== name)].slice(0, MOST);
  ofBrowser.setItem(STORED.saved, JSON.stringify(saved.value));
}

function forgetSaved(name: string): void {
  saved.value = saved.value.filter((one) => one.name !== name);
  ofBrowser.setItem(STORED.saved, JSON.stringify(saved.value));
}

function clearHistory(): void {
  past.value = [];
  ofBrowser.removeItem(STORED.history);
}

/** An entry of the operators' file, as the service answers it. */
interface SharedSearch {
  readonly name: string;
  readonly search: string;
  readonly description?: string;
}

const shared = signal<readonly SharedSearch[]>([]);

/** Keys with pins may see none: what others search for is not theirs. */
async function loadShared(): Promise<void> {
  shared.value = [];
  if (key.value === null || isPinned.value) return;
  try {
    const { text } = await ask('api/searches', new Map(), key.value, new AbortController().signal);
    shared.value = (JSON.parse(text) as { result: readonly SharedSearch[] }).result;
  } catch {
    // An older service has none.
  }
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
  const news = useSignal('');
  const copyEntry = async (): Promise<void> => {
    const entry = { name: name.value.trim() || labelOf(nowAs('')), search: nowAs('').fragment };
    news.value = `${await copied(JSON.stringify(entry, null, 2))}: an entry for the file SEARCHES_FILE.`;
  };
  return (
    <Popup
      label="History"
      onOpen={() => {
        news.value = '';
        void loadShared();
      }}
    >
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
            <button type="button" title="For the file of shared searches" onClick={() => void copyEntry()}>
              Copy as entry
            </button>
          </form>
          <p role="status" class="quiet">
            {news.value}
          </p>
          {shared.value.length === 0 ? null : (
            <>
              <h2>Shared</h2>
              <Entries
                all={shared.value.map((one) => ({ fragment: one.search, at: 0, name: one.name }))}
                close={close}
                remove={null}
                none=""
              />
            </>
          )}
          <h2>Saved</h2>
          <Entries all={saved.value} close={close} remove={(one) => forgetSaved(one.name)} none="None yet." />
          <h2>Before</h2>
          <Entries all={past.value} close={close} remove={null} none="No search has been run in this browser." />
          {past.value.length === 0 ? null : (
            <button type="button" class="link" onClick={clearHistory}>
              Clear
            </button>
          )}
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
