/** The key and what it may run. The key is sent in a header alone and never comes into the address. */
import { computed, signal } from '@preact/signals';

import { ApiError, ask, type EndpointDescription } from './api';
import { ofBrowser, ofTab } from './embed';
import { parseExactly } from './exact-json';

const STORED = 'logquay.key';

export const key = signal<string | null>(ofBrowser.getItem(STORED) ?? ofTab.getItem(STORED));
export const remembered = signal(ofBrowser.getItem(STORED) !== null);

/** null: not asked for yet. */
export const endpoints = signal<readonly EndpointDescription[] | null>(null);

/** Why there is no catalogue. */
export const keyFault = signal<string | null>(null);
export const connecting = signal(false);

/** Whether the key fixes a parameter. */
export const isPinned = computed(
  () => endpoints.value?.some(({ params }) => params.some(({ fixed }) => fixed === true)) === true,
);

export const needsKey = computed(() => key.value === null || keyFault.value !== null);

/** Reads the catalogue with a key; the key is stored where it is valid. @param inBrowser beyond the tab */
export async function connect(candidate: string, inBrowser: boolean): Promise<void> {
  connecting.value = true;
  try {
    const { text } = await ask('api/endpoints', new Map(), candidate, new AbortController().signal);
    const { result } = parseExactly(text) as unknown as { result: readonly EndpointDescription[] };
    forget();
    (inBrowser ? ofBrowser : ofTab).setItem(STORED, candidate);
    remembered.value = inBrowser;
    keyFault.value = null;
    key.value = candidate;
    endpoints.value = result;
  } catch (error) {
    keyFault.value = error instanceof ApiError ? error.message : String(error);
  } finally {
    connecting.value = false;
  }
}

/** Forgets the key, in the tab and in the browser. */
export function forget(): void {
  ofBrowser.removeItem(STORED);
  ofTab.removeItem(STORED);
  key.value = null;
  endpoints.value = null;
}
