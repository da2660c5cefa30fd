import { ServiceError } from '../errors';

import { MOST_LISTED, MOST_NESTING, MOST_PARAMETERS, tooManyParameters, tooManyValues } from './bounds';
import type { RawEntry, RawValue } from './raw-entry';
import { MOST_VALUES } from './values/list';

/**
 * Reads JSON that a caller sent, of at most 100 levels: deeper values would overflow the stack where they are looked through.
 *
 * @param what it is, as a message begins
 * @throws ServiceError invalidParameter
 */
export function readJson(text: string, what: string): unknown {
  checkShape(text, what, Infinity);
  return parsed(text, what);
}

function parsed(text: string, what: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new ServiceError('invalidParameter', `${what} is not valid JSON.`, {}, { cause });
  }
}

/**
 * Reads the JSON object of a POST as parameters, in order. `JSON.parse` alone would not do: it turns numbers into
 * doubles and forgets names given twice. It judges the syntax; what it accepted is then read again, token by token, as
 * far as the members of the outermost object.
 *
 * Throws `invalidParameter` when the text is no JSON or no object, or one of too many members, values of lists or too deep.
 */
export function readJsonBody(text: string, what = 'The body'): RawEntry[] {
  checkShape(text, what, MOST_PARAMETERS);
  const value = parsed(text, what);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ServiceError('invalidParameter', `${what} must be a JSON object of parameters.`);
  }
  return new MemberReader(text).members();
}

/** One look at brackets and commas before anything is built of them; what is no JSON may pass. */
function checkShape(text: string, what: string, mostMembers: number): void {
  let depth = 0;
  let commas = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = closingQuote(text, at);
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        if (++depth > MOST_NESTING) {
          throw new ServiceError('invalidParameter', `${what} nests more than ${MOST_NESTING} levels.`);
        }
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth--;
        break;
      case COMMA:
        if (depth === 1 && ++commas >= mostMembers) throw tooManyParameters();
    }
  }
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Where the string that opens at `at` ends; beyond the text where it does not. */
function closingQuote(text: string, at: number): number {
  for (let i = at + 1; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === QUOTE) return i;
    if (unit === BACKSLASH) i++;
  }
  return text.length;
}

/** Steps through a text that is known to be one JSON object. */
class MemberReader {
  private at = 0;
  private listed = 0;

  constructor(private readonly text: string) {}

  members(): RawEntry[] {
    const entries: RawEntry[] = [];
    this.skipTo('{');
    for (;;) {
      this.skipBlanks();
      if (this.text[this.at] === '}') return entries;
      if (this.text[this.at] === ',') this.skipTo(',');
      this.skipBlanks();
      const name = this.readString();
      this.skipTo(':');
      entries.push({ name, value: this.readValue(), isMember: true });
    }
  }

  private readValue(): RawValue {
    this.skipBlanks();
    const first = this.text[this.at];
    if (first === '"') return { kind: 'text', text: this.readString() };
    if (first === '[') return { kind: 'array', items: this.readItems() };
    if (first === '{') {
      this.skipNested();
      return { kind: 'object' };
    }
    const word = /[^\s,}\]]+/y;
    word.lastIndex = this.at;
    const token = word.exec(this.text)?.[0] ?? '';
    this.at += token.length;
    if (token === 'null') return { kind: 'null' };
    if (token === 'true' || token === 'false') return { kind: 'boolean', text: token };
    return { kind: 'number', text: token };
  }

  /** The first values of an array, as many as tell that it is too long. */
  private readItems(): RawValue[] {
    const items: RawValue[] = [];
    const start = this.at;
    this.skipNested();
    const end = this.at;
    this.at = start + 1;
    for (;;) {
      this.skipBlanks();
      if (this.text[this.at] === ',') this.at++;
      this.skipBlanks();
      if (this.text[this.at] === ']' || items.length > MOST_VALUES) break;
      if (++this.listed > MOST_LISTED) throw tooManyValues();
      items.push(this.readItem());
    }
    this.at = end;
    return items;
  }

  /** No value of a list is itself one: what is in it does not matter. */
  private readItem(): RawValue {
    if (this.text[this.at] !== '[') return this.readValue();
    this.skipNested();
    return { kind: 'array', items: [] };
  }

  private readString(): string {
    const start = this.at;
    this.skipString();
    return JSON.parse(this.text.slice(start, this.at)) as string;
  }

  private skipString(): void {
    this.at = closingQuote(this.text, this.at) + 1;
  }

  private skipNested(): void {
    let depth = 0;
    do {
      const unit = this.text[this.at];
      if (unit === '"') this.skipString();
      else {
        if (unit === '{' || unit === '[') depth++;
        if (unit === '}' || unit === ']') depth--;
        this.at++;
      }
    } while (depth > 0);
  }

  private skipBlanks(): void {
    while (this.text.charCodeAt(this.at) <= 0x20) this.at++;
  }

  private skipTo(mark: string): void {
    this.at = this.text.indexOf(mark, this.at) + 1;
  }
}
