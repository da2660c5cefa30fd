import {
  type CompletionContext,
  type CompletionResult,
  pickedCompletion,
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeCompletion,
  completionKeymap,
  completionStatus,
  moveCompletionSelection,
} from '@codemirror/autocomplete';
import type { Completion as Offered, TextFault } from '@logquay/googlesql/consumer';
import { read } from '../analyser/analyser';
import { clauseFor } from '../clause';
import { writeExactly } from '../exact-json';
import { topValues } from '../field-values';
import { freeValues } from '../range-values';
import { result } from '../result';
import { schema } from '../schema';
import { table } from '../search';
import {
  type Action,
  type Diagnostic,
  diagnosticCount,
  forEachDiagnostic,
  lintKeymap,
  setDiagnostics,
} from '@codemirror/lint';
import type { Span } from '@logquay/googlesql/syntax';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { Compartment, EditorState, type Extension, Prec } from '@codemirror/state';
import { type Command, drawSelection, EditorView, keymap, placeholder } from '@codemirror/view';
import type { ReadonlySignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { analysis } from '../analysis';
import { highlighting, theme } from './theme';

let shown: EditorView | null = null;

/** Moves the keyboard into the query. */
export function focusQuery(): void {
  shown?.focus();
}

/** Completions of the page's own analyser, and values that rows have. */
function completionSource(language: 'sql' | 'lql') {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    if (schema.value === null) return null;
    const before = context.state.sliceDoc(Math.max(0, context.pos - 1), context.pos);
    const text = context.state.doc.toString();
    const values = language === 'lql' ? await valuesAt(text, context.pos) : null;
    if (values === null && !context.explicit && !/[\w.:@*]/.test(before)) return null;
    const { tables: all, parameters } = schema.value;
    // A line that names no table is about the chosen one.
    const tables = [...all].sort((a, b) => Number(b.name === table.value) - Number(a.name === table.value));
    const found = await read('complete', { language, text, position: context.pos, tables, parameters });
    if (context.aborted) return null;
    const { span, items } = found ?? { span: null, items: [] };
    if (values !== null) {
      const more = span?.start === values.from ? items.map(optionOf) : [];
      return { ...values, options: [...values.options, ...more] };
    }
    if (span === null || items.length === 0) return null;
    return { from: span.start, to: span.end, filter: false, options: items.map(optionOf) };
  };
}

const MOST_VALUES = 30;

/** Values of the field whose clause is being written: of the range where counting them is free, else of the rows that are loaded. */
async function valuesAt(text: string, position: number): Promise<CompletionResult | null> {
  const before = text.slice(0, position);
  const [, path, quote, written = ''] = /(?:^|[\s-])([A-Za-z_][\w.]*):("?)([^"\s]*)$/.exec(before) ?? [];
  if (path === undefined || /^(?:f|from|s|select|c|chart|t|timestamp)$/.test(path)) return null;
  const names = path.replace(/^m\./, 'metadata.').split('.');
  const known = (await freeValues(names)) ?? topValues(result.peek()?.rows ?? [], names, MOST_VALUES);
  const word = written.toLowerCase();
  const options = known.values.flatMap(({ value, count }) => {
    const clause = clauseFor(names, value);
    const label = typeof value === 'string' ? value : writeExactly(value);
    if (clause === null || !label.toLowerCase().includes(word)) return [];
    // What follows the colon is how LQL writes the value.
    const apply = clause.slice(clause.indexOf(':') + 1);
    return [{ label: label.slice(0, 80), apply, detail: count.toLocaleString('en'), type: 'value' }];
  });
  if (options.length === 0) return null;
  const from = before.length - written.length - (quote?.length ?? 0);
  // The quote that the editor has put behind the cursor.
  const to = quote === '"' && text[position] === '"' ? position + 1 : position;
  return { from, to, filter: false, options: options.slice(0, MOST_VALUES) };
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

/** The faults of a text as the editor underlines them; what was probably meant is one click, or Ctrl+`.`, away. */
function diagnosticsOf(faults: readonly TextFault[], text: string): Diagnostic[] {
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

interface CodeFieldProps {
  readonly label: string;
  readonly language: 'sql' | 'lql';
  readonly text: ReadonlySignal<string>;
  readonly hint: string;
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
}

/**
 * An editor with colours, underlined faults and completions. It lives in a shadow root: there its styles are sheets of its
 * own, which the page's policy lets be.
 */
export function CodeField({ label, language, text, hint, onChange, onRun }: CodeFieldProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const settings = useRef(new Compartment());
  const handlers = useRef({ onChange, onRun });
  handlers.current = { onChange, onRun };
  const run: Command = (editor) => {
    // The next Escape is for the run.
    closeCompletion(editor);
    handlers.current.onRun();
    return true;
  };

  useEffect(() => {
    if (host.current === null) return;
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: text.peek(),
        extensions: [
          common(run),
          settings.current.of(ofLanguage({ language, label, hint }, run)),
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (docChanged) handlers.current.onChange(state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    shown = editor;
    // At once: a text that came later than what was typed meanwhile would undo it.
    const follow = text.subscribe((next) => {
      const { doc } = editor.state;
      if (doc.toString() === next) return;
      editor.dispatch({ changes: { from: 0, to: doc.length, insert: next }, selection: { anchor: next.length } });
    });
    const unsubscribe = analysis.subscribe((known) => {
      const written = editor.state.doc.toString();
      const faults = known === null || known.text !== written ? [] : known.errors;
      // Any update takes back a selection in the document that the editor has not heard of yet.
      if (faults.length === 0 && diagnosticCount(editor.state) === 0) return;
      editor.dispatch(setDiagnostics(editor.state, diagnosticsOf(faults, written)));
    });
    return () => {
      follow();
      unsubscribe();
      editor.destroy();
      view.current = null;
    };
  }, []);

  // Before anything can be typed in a language that the editor does not know of.
  useLayoutEffect(() => {
    view.current?.dispatch({ effects: settings.current.reconfigure(ofLanguage({ language, label, hint }, run)) });
  }, [language, label, hint]);

  return <div ref={host} class="code-field" />;
}

function common(run: Command): Extension {
  return [
    history(),
    drawSelection(),
    closeBrackets(),
    EditorView.lineWrapping,
    EditorView.domEventHandlers({ beforeinput: replaceSelection }),
    theme,
    Prec.high(
      keymap.of([
        { key: 'Mod-Enter', run, stopPropagation: true },
        { key: 'Mod-.', run: applyFix },
        // Only where completions are shown: else Tab leaves the editor, as the keyboard's users expect.
        { key: 'Tab', run: acceptFirst },
      ]),
    ),
    keymap.of([...completionKeymap, ...lintKeymap, ...historyKeymap, ...defaultKeymap]),
  ];
}

function ofLanguage(
  { language, label, hint }: Pick<CodeFieldProps, 'language' | 'label' | 'hint'>,
  run: Command,
): Extension {
  return [
    highlighting(language),
    autocompletion({
      override: [completionSource(language)],
      icons: false,
      maxRenderedOptions: 60,
      // Enter runs a line of LQL, unless a completion was chosen.
      selectOnOpen: language === 'sql',
    }),
    EditorView.contentAttributes.of({ 'aria-label': label, autocapitalize: 'off', spellcheck: 'false' }),
    placeholder(hint),
    // A line of LQL runs by Enter; Shift+Enter breaks it.
    language === 'lql'
      ? Prec.high(keymap.of([{ key: 'Enter', run: (view) => acceptCompletion(view) || run(view) }]))
      : [],
  ];
}

/** Replaces chosen text without the browser, which would write the style of it into the page: its policy forbids that. */
function replaceSelection({ inputType, data }: InputEvent, view: EditorView): boolean {
  if (inputType !== 'insertText' || data === null || view.composing) return false;
  const { from, to } = chosenIn(view);
  if (from === to) return false;
  view.dispatch({
    changes: { from, to, insert: data },
    selection: { anchor: from + data.length },
    userEvent: 'input.type',
    scrollIntoView: true,
  });
  return true;
}

/** What is chosen in the document: the editor hears of a selection a moment later. */
function chosenIn(view: EditorView): { readonly from: number; readonly to: number } {
  const root = view.root as ShadowRoot & { readonly getSelection?: () => Selection | null };
  const { anchorNode, anchorOffset = 0, focusNode, focusOffset = 0 } = root.getSelection?.() ?? {};
  if (!view.contentDOM.contains(anchorNode ?? null) || !view.contentDOM.contains(focusNode ?? null))
    return view.state.selection.main;
  const [anchor, head] = [view.posAtDOM(anchorNode!, anchorOffset), view.posAtDOM(focusNode!, focusOffset)];
  return { from: Math.min(anchor, head), to: Math.max(anchor, head) };
}

/** Accepts the chosen completion, or the first. */
function acceptFirst(view: EditorView): boolean {
  if (completionStatus(view.state) !== 'active') return false;
  if (acceptCompletion(view)) return true;
  moveCompletionSelection(true)(view);
  return acceptCompletion(view);
}

/** Applies what was probably meant by the fault at the cursor, or by the only one there is. */
function applyFix(view: EditorView): boolean {
  const { head } = view.state.selection.main;
  const fixable: { readonly apply: () => void; readonly near: boolean }[] = [];
  forEachDiagnostic(view.state, ({ actions }, from, to) => {
    const [action] = actions ?? [];
    if (action !== undefined)
      fixable.push({ apply: () => action.apply(view, from, to), near: from <= head && head <= to });
  });
  const chosen = fixable.find(({ near }) => near) ?? (fixable.length === 1 ? fixable[0] : undefined);
  chosen?.apply();
  return chosen !== undefined;
}
