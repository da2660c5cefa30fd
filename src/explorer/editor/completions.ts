import { type CompletionContext, type CompletionResult, pickedCompletion } from '@codemirror/autocomplete';

import type { Completion as Offered } from '../../completion/completion';
import { read } from '../analyser/analyser';
import { schema } from '../schema';

/** Completions of the page's own analyser. */
export function completionSource(language: 'sql' | 'lql') {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    if (schema.value === null) return null;
    const before = context.state.sliceDoc(Math.max(0, context.pos - 1), context.pos);
    if (!context.explicit && !/[\w.:@*]/.test(before)) return null;
    const { tables, parameters } = schema.value;
    const text = context.state.doc.toString();
    const found = await read('complete', { language, text, position: context.pos, tables, parameters });
    if (found === null || context.aborted || found.items.length === 0) return null;
    const { span, items } = found;
    return { from: span.start, to: span.end, filter: false, options: items.map(optionOf) };
  };
}

function optionOf({ label, kind, insert, type, detail, also }: Offered): CompletionResult['options'][number] {
  return {
    label,
    type: kind,
    detail: type ?? (kind === 'function' ? '' : (detail ?? '')),
    ...(kind === 'function' || also !== undefined ? { info: detail ?? '' } : {}),
    apply: (view, completion, from, to) => {
      const shift = also !== undefined && also.at <= from ? also.insert.length : 0;
      view.dispatch({
        changes: [{ from, to, insert }, ...(also === undefined ? [] : [{ from: also.at, insert: also.insert }])],
        selection: { anchor: from + shift + insert.length },
        annotations: pickedCompletion.of(completion),
        userEvent: 'input.complete',
      });
    },
  };
}
