import { effect } from '@preact/signals';
import { render } from 'preact';

import { App } from './app';
import { renewWith } from './api';
import { embed, framed, renewed, tellState } from './embed';
import { run, runs, start } from './run';
import { readFragment, search, writeFragment } from './search';
import { key, keyFault } from './session';

const root = document.getElementById('explorer');
if (root !== null) render(<App />, root);

if (framed) {
  renewWith(renewed);
  effect(() => tellState(writeFragment(search.value)));
  const onState = (state: string): void => {
    search.value = readFragment(state);
    void run();
  };
  const onToken = (token: string, isFirst: boolean): void => {
    key.value = token;
    // Without a fault that has come of the token before.
    if (isFirst || keyFault.peek() !== null) void start();
  };
  void embed({ onToken, onState });
} else {
  followAddress();
  void start();
}

/** The address follows what is looked at, and each run is a step of the browser's history: back leads to the one before. */
function followAddress(): void {
  effect(() => {
    const fragment = writeFragment(search.value);
    if (fragment !== location.hash) history.replaceState(null, '', fragment);
  });
  let last = '';
  effect(() => {
    if (runs.value === 0) return;
    const fragment = writeFragment(search.peek());
    if (last !== '' && fragment !== last) {
      history.replaceState(null, '', last);
      history.pushState(null, '', fragment);
    }
    last = fragment;
  });
  addEventListener('popstate', () => {
    search.value = readFragment(location.hash);
    last = writeFragment(search.value);
    void run();
  });
}
