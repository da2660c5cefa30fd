import { visibleText } from './visible-text';

/** What terminals colour by: `ESC [ 31 m`. */
const STYLE = /\u001b\[([\d;]*)m/;

export const hasStyle = (text: string): boolean => text.includes('\u001b[');

/** A text of a row as it is, in the colours that it was written with for a terminal. */
export function Text({ text }: { readonly text: string }) {
  if (!hasStyle(text)) return visibleText(text);
  const parts = text.split(STYLE);
  let style = '';
  return parts.map((part, i) => {
    if (i % 2 === 1) {
      for (const code of part.split(';')) style = styleAfter(style, Number(code));
      return null;
    }
    return part === '' ? null : (
      <span key={i} class={style}>
        {visibleText(part)}
      </span>
    );
  });
}

function styleAfter(style: string, code: number): string {
  if (code === 0) return '';
  if (code === 1) return `${style} bold`;
  const isColour = (code >= 30 && code <= 37) || (code >= 90 && code <= 97) || code === 39;
  if (!isColour) return style;
  const kept = style.replace(/ ?ansi-\d/, '');
  return code === 39 ? kept : `${kept} ansi-${code % 10}`;
}
