/**
 * A reader of the few shapes of YAML that settings are mostly written in. With the package for all of YAML they take a third of
 * the time of reading a stored query, and a start may have thousands of them to read.
 */
import { UUID } from './uuid';

export interface SimpleMap {
  [key: string]: SimpleMap | SimpleScalar | SimpleScalar[];
}
type SimpleScalar = string | bigint | boolean;

/** Line ends other than LF, tabs and everything else that is more than a character. */
const UNUSUAL = /[^\n -~\u00a0-\u2027\u202a-\ud7ff]/;
const ENTRY = /^( *)([A-Za-z][A-Za-z0-9_]{0,127}):(?: +([^ ].*?))? *$/;
const LIST = /^\[([^[\]{}]*)\]$/;
const BRACES = /^\{(.*)\}$/;
const PAIR = / *([A-Za-z][A-Za-z0-9_]{0,127}): +(\[[^[\]{}]*\]|"[^"]*"|'[^']*'|[^ ,[\]{}"'][^,[\]{}]*) *(?:,|$)/y;
const QUOTED = /^(?:"([^"\\]*)"|'([^']*)')$/;
const PLAIN = /^[A-Za-z0-9](?:[^:#]*[^:# ])?$/;
/** Words that are more than text, if not in every case. */
const WORD = /^(?:true|false|null)$/i;
const WHOLE = /^(?:0|[1-9][0-9]*)$/;
/** What is no number: `15min`, but neither `1e5` nor `0x1F`. */
const TEXT = /^[0-9]*[A-DF-NP-WYZa-df-np-wyz]|^[A-Za-z]/;

/** Levels of settings: those of a file, `params`, and the declaration of one. */
const LEVELS = 3;

class NotSimple extends Error {}

/**
 * What the package `yaml` gives for the text, or null for one of other shapes, faulty ones among them.
 *
 * @param keepsWritten whether the scalars at this path of keys are texts whatever YAML takes them for
 */
export function readSimpleYaml(text: string, keepsWritten: (path: readonly string[]) => boolean): SimpleMap | null {
  if (UNUSUAL.test(text)) return null;
  try {
    return new Reader(text.split('\n'), keepsWritten).read();
  } catch (error) {
    if (error instanceof NotSimple) return null;
    throw error;
  }
}

class Reader {
  #at = 0;

  constructor(
    private readonly lines: readonly string[],
    private readonly keepsWritten: (path: readonly string[]) => boolean,
  ) {}

  read(): SimpleMap {
    this.#skipEmpty();
    const map = this.#map(0, []);
    if (this.#at < this.lines.length) throw new NotSimple();
    return map;
  }

  /** The entries from here on that are indented so far; at least one. */
  #map(indent: number, path: readonly string[]): SimpleMap {
    const map: SimpleMap = {};
    if (path.length === LEVELS) throw new NotSimple();
    do {
      const [, blanks = '', key = '', value] = ENTRY.exec(this.lines[this.#at] ?? '') ?? [];
      if (key === '' || blanks.length !== indent) throw new NotSimple();
      this.#at++;
      add(map, key, this.#value(indent, value, [...path, key]));
      this.#skipEmpty();
    } while (this.#indent() >= indent);
    return map;
  }

  #value(indent: number, written: string | undefined, path: readonly string[]): SimpleMap[string] {
    if (written === '>-') return this.#folded(indent);
    if (written !== undefined) return this.#inline(written, path);
    this.#skipEmpty();
    const inner = this.#indent();
    if (inner <= indent) throw new NotSimple();
    return this.#map(inner, path);
  }

  /** Lines that are one. Where an empty one is among them, what follows it is no entry. */
  #folded(indent: number): string {
    const inner = this.#indent();
    if (inner <= indent) throw new NotSimple();
    const lines: string[] = [];
    for (; this.#indent() === inner; this.#at++) lines.push((this.lines[this.#at] ?? '').slice(inner));
    if (lines.some((line) => line.endsWith(' '))) throw new NotSimple();
    return lines.join(' ');
  }

  #inline(written: string, path: readonly string[]): SimpleMap[string] {
    const list = LIST.exec(written)?.[1];
    if (list !== undefined) {
      const items = /^ *$/.test(list) ? [] : list.split(',');
      return items.map((item) => this.#scalar(item.replace(/^ +| +$/g, ''), path));
    }
    const pairs = BRACES.exec(written)?.[1];
    return pairs === undefined ? this.#scalar(written, path) : this.#braces(pairs, path);
  }

  #braces(pairs: string, path: readonly string[]): SimpleMap {
    const map: SimpleMap = {};
    PAIR.lastIndex = 0;
    for (let at = 0; at < pairs.length; at = PAIR.lastIndex) {
      PAIR.lastIndex = at;
      const [, key = '', value = ''] = PAIR.exec(pairs) ?? [];
      if (key === '') throw new NotSimple();
      add(map, key, this.#inline(value.replace(/ +$/, ''), [...path, key]));
    }
    return map;
  }

  #scalar(written: string, path: readonly string[]): SimpleScalar {
    const quoted = QUOTED.exec(written);
    if (quoted !== null) return quoted[1] ?? quoted[2] ?? '';
    if (!PLAIN.test(written)) throw new NotSimple();
    const isText = this.keepsWritten(path);
    if (WHOLE.test(written)) return isText ? written : BigInt(written);
    if (written === 'true' || written === 'false') return isText ? written : written === 'true';
    if (WORD.test(written) || !(TEXT.test(written) || UUID.test(written))) throw new NotSimple();
    return written;
  }

  #skipEmpty(): void {
    while (this.lines[this.#at] === '') this.#at++;
  }

  /** Blanks before what is written in the line; -1: nothing is, or there is no line. */
  #indent(): number {
    return (this.lines[this.#at] ?? '').search(/[^ ]/);
  }
}

function add(map: SimpleMap, key: string, value: SimpleMap[string]): void {
  if (Object.hasOwn(map, key) || WORD.test(key)) throw new NotSimple();
  map[key] = value;
}
