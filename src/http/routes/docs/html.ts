/** A text that is HTML already, and so is not escaped again. */
export class Markup {
  constructor(readonly text: string) {}
}

type Piece = Markup | string | number | null | readonly Markup[];

/** HTML of a template: everything put into it is escaped, for elements and quoted attributes alike, but markup itself. */
export function markup(strings: TemplateStringsArray, ...pieces: readonly Piece[]): Markup {
  return new Markup(strings.reduce((text, string, i) => text + render(pieces[i - 1] ?? null) + string));
}

/** A script or style of our own, whose bytes the page's policy names by their hash: it must not be changed. */
export function verbatim(text: string): Markup {
  if (/<\/(?:script|style)|<!--/i.test(text)) throw new Error('This text would end the element that holds it.');
  return new Markup(text);
}

function render(piece: Piece): string {
  if (piece === null) return '';
  if (piece instanceof Markup) return piece.text;
  if (typeof piece === 'object') return piece.map(({ text }) => text).join('');
  return String(piece).replace(/[&<>"'`]/g, (sign) => `&#${String(sign.charCodeAt(0))};`);
}

/** Words with code between back ticks, as descriptions hold them. */
export function words(text: string): Markup[] {
  return text.split(/`([^`]+)`/).map((part, i) => (i % 2 === 0 ? markup`${part}` : markup`<code>${part}</code>`));
}
