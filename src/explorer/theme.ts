import { effect, signal } from '@preact/signals';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const STORED = 'logquay.theme';

export const theme = signal<Theme>(THEMES.find((one) => one === localStorage.getItem(STORED)) ?? 'system');

effect(() => {
  document.documentElement.dataset.theme = theme.value;
  if (theme.value === 'system') localStorage.removeItem(STORED);
  else localStorage.setItem(STORED, theme.value);
});
