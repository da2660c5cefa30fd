import { type Extension, RangeSetBuilder } from '@codemirror/state';
import { Decoration, type DecorationSet, type EditorView, ViewPlugin, type ViewUpdate } from '@codemirror/view';

import { lqlSpans } from './lql-spans';
import { type ColouredSpan, sqlSpans } from './sql-spans';

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
