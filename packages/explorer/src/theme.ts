import { effect, signal } from '@preact/signals';

import { ofBrowser } from './embed';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const STORED = 'logquay.theme';

export const theme = signal<Theme>(THEMES.find((one) => one === ofBrowser.getItem(STORED)) ?? 'system');

effect(() => {
  document.documentElement.dataset.theme = theme.value;
  if (theme.value === 'system') ofBrowser.removeItem(STORED);
  else ofBrowser.setItem(STORED, theme.value);
});
