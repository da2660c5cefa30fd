import { effect } from '@preact/signals';
import { render } from 'preact';

import { App } from './app';
import { run, start } from './run';
import { readFragment, search, writeFragment } from './search';

const root = document.getElementById('explorer');
if (root !== null) render(<App />, root);

// The address follows what is looked at; going back in the browser's history is followed in turn.
effect(() => {
  const fragment = writeFragment(search.value);
  if (fragment !== location.hash) history.replaceState(null, '', fragment);
});
addEventListener('hashchange', () => {
  search.value = readFragment(location.hash);
  void run();
});

void start();
