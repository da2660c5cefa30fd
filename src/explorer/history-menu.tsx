import { useSignal } from '@preact/signals';

import { clearHistory, forgetSaved, type StoredSearch, labelOf, past, save, saved } from './history';
import { Popup } from './popup';
import { run } from './run';
import { readFragment, search } from './search';
import { firstOf } from './visible-text';

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
