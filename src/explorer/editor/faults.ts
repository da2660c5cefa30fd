import type { Action, Diagnostic } from '@codemirror/lint';

import type { TextFault } from '../../analysis/consumer-query';
import type { Span } from '../../googlesql/syntax';

/** The faults of a text as the editor underlines them; what was probably meant is one click, or Ctrl+`.`, away. */
export function diagnosticsOf(faults: readonly TextFault[], text: string): Diagnostic[] {
  return faults.map(({ message, hint, allowed, span, note }): Diagnostic => {
    const { from, to } = placeOf(note?.name, span ?? { start: 0, end: text.length }, text);
    // A field within a record takes more than another name.
    const meant = note?.record === undefined ? note?.suggestion : undefined;
    const more = hint === undefined ? '' : `\n${hint}`;
    const names = meant === undefined && allowed !== undefined ? `\nThere is: ${allowed.slice(0, 12).join(', ')}` : '';
    return {
      from,
      to,
      severity: 'error',
      message: `${message}${more}${names}`,
      ...(meant === undefined ? {} : { actions: [replacement(meant)] }),
    };
  });
}

/** The unknown name within the place of a fault, which in LQL is the whole path; else the place. */
function placeOf(
  name: string | undefined,
  { start, end }: Span,
  text: string,
): { readonly from: number; readonly to: number } {
  const at = name === undefined ? -1 : text.slice(start, end).lastIndexOf(name);
  if (name === undefined || at < 0) return { from: Math.min(start, text.length), to: Math.min(end, text.length) };
  return { from: start + at, to: start + at + name.length };
}

function replacement(meant: string): Action {
  return {
    name: `Change to ${meant}`,
    apply: (view, from, to) => {
      view.dispatch({ changes: { from, to, insert: meant }, selection: { anchor: from + meant.length } });
    },
  };
}
