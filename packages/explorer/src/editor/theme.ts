import { type Extension, RangeSetBuilder } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, ViewPlugin, type ViewUpdate } from '@codemirror/view';

import { type ColouredSpan, lqlSpans, sqlSpans } from './spans';

/** The editor in the page's colours, whose variables reach into its shadow root. */
export const theme = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--ground)', fontSize: '0.8125rem', borderRadius: '0.3rem' },
  '&.cm-focused': { outline: '2px solid var(--act)', outlineOffset: '1px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5', maxHeight: '40vh' },
  '.cm-content': { padding: '0.27rem 0', caretColor: 'var(--text)' },
  '.cm-line': { padding: '0 0.6rem' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--chosen)',
  },
  '.cm-placeholder': { color: 'var(--quiet)' },
  '.cm-tooltip': {
    color: 'var(--text)',
    backgroundColor: 'var(--ground)',
    border: '1px solid var(--edge)',
    borderRadius: '0.3rem',
    boxShadow: '0 4px 18px rgb(0 0 0 / 25%)',
    fontSize: '0.8125rem',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '16rem', minWidth: '18rem' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { display: 'flex', gap: '1rem', padding: '0.15rem 0.5rem' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    color: 'var(--text)',
    backgroundColor: 'var(--chosen)',
  },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
  '.cm-completionDetail': { marginLeft: 'auto', fontStyle: 'normal', color: 'var(--quiet)' },
  '.cm-completionInfo': { maxWidth: '26rem', whiteSpace: 'pre-wrap', fontFamily: 'var(--mono)' },
  '.cm-lintRange': { backgroundImage: 'none', paddingBottom: '0' },
  '.cm-lintRange-error': { textDecoration: 'underline wavy var(--error-mark)', textUnderlineOffset: '3px' },
  '.cm-lintRange-warning': { textDecoration: 'underline wavy var(--warning-mark)', textUnderlineOffset: '3px' },
  '.cm-diagnostic': { padding: '0.4rem 0.6rem', borderLeft: '4px solid var(--error-mark)', maxWidth: '34rem' },
  '.cm-diagnosticAction': {
    color: 'var(--on-act)',
    backgroundColor: 'var(--act)',
    borderRadius: '0.25rem',
    padding: '0.15rem 0.5rem',
  },
  '.tok-keyword': { color: 'var(--keyword)', fontWeight: '600' },
  '.tok-function': { color: 'var(--function)' },
  '.tok-type': { color: 'var(--type)' },
  '.tok-string': { color: 'var(--string)' },
  '.tok-number': { color: 'var(--number)' },
  '.tok-parameter': { color: 'var(--type)' },
  '.tok-comment': { color: 'var(--quiet)', fontStyle: 'italic' },
  '.tok-field': { color: 'var(--function)' },
});

/** UTF-16 units of a text that is coloured: a longer one stays plain. */
const LONGEST_TEXT = 50_000;

/** Colours a text by the lexers that the service reads it with. */
export function highlighting(language: 'sql' | 'lql'): Extension {
  const spansOf = language === 'sql' ? sqlSpans : lqlSpans;
  return ViewPlugin.fromClass(
    class {
      decorations: DecorationSet;

      constructor(view: EditorView) {
        this.decorations = decorate(view.state.doc.toString(), spansOf);
      }

      update({ docChanged, state }: ViewUpdate): void {
        if (docChanged) this.decorations = decorate(state.doc.toString(), spansOf);
      }
    },
    { decorations: (plugin) => plugin.decorations },
  );
}

function decorate(text: string, spansOf: (text: string) => readonly ColouredSpan[]): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  if (text.length <= LONGEST_TEXT)
    for (const { start, end, colour } of spansOf(text)) builder.add(start, end, MARKS[colour]);
  return builder.finish();
}

const mark = (name: string): Decoration => Decoration.mark({ class: `tok-${name}` });

const MARKS: Readonly<Record<ColouredSpan['colour'], Decoration>> = {
  keyword: mark('keyword'),
  function: mark('function'),
  type: mark('type'),
  string: mark('string'),
  number: mark('number'),
  parameter: mark('parameter'),
  comment: mark('comment'),
  field: mark('field'),
};
