/** Searches of before, and those that were given a name: in the browser alone. */
import { effect, signal } from '@preact/signals';

import { result } from './run';
import { readFragment, search, writeFragment } from './search';

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
    const found: unknown = JSON.parse(localStorage.getItem(name) ?? '[]');
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
  localStorage.setItem(STORED.history, JSON.stringify(past.peek()));
});

export function save(name: string): void {
  const fragment = writeFragment({ ...search.value, row: '' });
  saved.value = [{ fragment, at: Date.now(), name }, ...saved.value.filter((one) => one.name !== name)].slice(0, MOST);
  localStorage.setItem(STORED.saved, JSON.stringify(saved.value));
}

export function forgetSaved(name: string): void {
  saved.value = saved.value.filter((one) => one.name !== name);
  localStorage.setItem(STORED.saved, JSON.stringify(saved.value));
}

export function clearHistory(): void {
  past.value = [];
  localStorage.removeItem(STORED.history);
}

/** The name of a search; else its query, or its endpoint. */
export function labelOf({ fragment, name }: StoredSearch): string {
  const { endpoint, query, range } = readFragment(fragment);
  const last = range.kind === 'last' ? '' : `, ${new Date(range.start).toISOString().slice(0, 16)}`;
  return name !== '' ? name : `${query === '' ? endpoint : query}${last}`;
}
