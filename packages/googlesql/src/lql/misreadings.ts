/** What an LQL text may have been meant to say: words of other query languages are searched for like any others. */
import { LEVELS } from '../roles';
import { LqlError } from './lql-error';
import { parse } from './parse';
import type { Filter, Rules } from './rules';
import { checkText } from './scanner';

/** What a text is read as, and what may have been meant. */
export interface Misreading {
  readonly message: string;
  readonly hint: string;
}

/** Longest text that is looked at beside a run, in UTF-16 units: nobody types more, and it costs each run some time. */
const LONGEST_TEXT = 2_000;
/** Misreadings of one text that are reported. */
const MOST = 3;
/** Longest part of a text in a message, in UTF-16 units. */
const LONGEST = 60;

interface Look {
  readonly form: RegExp;
  /** What one of the terms behind it looks like as well: `next`, the very next of them. */
  readonly before?: { readonly form: RegExp; readonly next: boolean };
  readonly misreading: (parts: readonly string[]) => Misreading;
}

/** What a search term looks like that was meant as something else. The first that fits is the one. */
const LOOKS: readonly Look[] = [
  {
    form: /^\(*select$/i,
    before: { form: /^from$/i, next: false },
    misreading: () => ({
      message: 'LQL searches messages for the words of what looks like SQL.',
      hint: 'SQL is sent as the parameter sql.',
    }),
  },
  {
    form: /^(?:order|group)$/i,
    before: { form: /^by$/i, next: true },
    misreading: ([word = '']) => ({
      message: `LQL has no ${shown(word)} by: it searches messages for the words.`,
      hint: 'Rows come newest first. SQL, sent as the parameter sql, sorts and counts.',
    }),
  },
  {
    form: /^in$/i,
    before: { form: /^\(/, next: true },
    misreading: ([word = '']) => ({
      message: `LQL has no ${shown(word)}: it searches messages for the word.`,
      hint: 'A pattern on a field finds one of several values: level:~"^(error|warning)$"',
    }),
  },
  {
    form: /^\(*(or|and|not|\|\|?|&&?|!)$/i,
    misreading: ([, word = '']) => ({
      message: `LQL has no ${shown(word)}: it searches messages for the word.`,
      hint: 'All clauses have to hold. A pattern finds one of several words: ~"first|second"; a minus in front negates a clause.',
    }),
  },
  {
    form: /^([A-Za-z_][\w.]*)(==?|!=|<>|<=?|>=?)([^=<>]+)$/,
    misreading: ([text = '', path = '', operator = '', value = '']) => ({
      message: `LQL searches messages for the text ${shown(text)}.`,
      hint: `A field is compared after a colon: ${shown(comparison(path, operator, value))}`,
    }),
  },
  {
    form: /^(?:==?|!=|<>|<=?|>=?)$/,
    misreading: ([text = '']) => ({
      message: `LQL searches messages for the text ${shown(text)}.`,
      hint: 'A field is compared after a colon, without spaces: level:error, status:>=500',
    }),
  },
  {
    form: /^'/,
    misreading: ([text = '']) => ({
      message: `LQL searches messages for the text ${shown(text)} with its apostrophe.`,
      hint: 'Words that belong together are put in double quotes.',
    }),
  },
  {
    form: new RegExp(`^(?:(?:${LEVELS.join('|')})\\.\\.\\w+|\\w+\\.\\.(?:${LEVELS.join('|')}))$`),
    misreading: ([text = '']) => ({
      message: `LQL searches messages for the text ${shown(text)}.`,
      hint: 'A range of levels is of a field: level:error..emergency',
    }),
  },
  {
    form: /^(?:\*.+|.+\*)$/,
    misreading: ([text = '']) => ({
      message: `LQL has no wildcards: it searches messages for ${shown(text)} with its asterisks.`,
      hint: 'A word is found anywhere in a message; a pattern is a regular expression: ~"time.*out"',
    }),
  },
];

/** How a comparison of another language is written in LQL. */
function comparison(path: string, operator: string, value: string): string {
  const operand = value.replace(/^'(.*)'$/, '$1');
  const written = /^[\p{L}\p{N}_]+$/u.test(operand) ? operand : `"${operand.replace(/["\\]/g, '\\$&')}"`;
  if (operator === '!=' || operator === '<>') return `-${path}:${written}`;
  return `${path}:${operator.replace(/^==?$/, '')}${written}`;
}

function shown(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** What a text may have been meant to say otherwise, in the order of the text; each kind once. */
export function misreadings({ filters }: Pick<Rules, 'filters'>): readonly Misreading[] {
  const found = new Map<RegExp, Misreading>();
  const terms = filters.map(bareTerm);
  for (const [i, word] of terms.entries()) {
    if (word === null) continue;
    const look = LOOKS.find(({ form, before }) => form.test(word) && isBefore(terms.slice(i + 1), before));
    if (look !== undefined && !found.has(look.form)) found.set(look.form, look.misreading(look.form.exec(word) ?? []));
  }
  return [...found.values()].slice(0, MOST);
}

function isBefore(terms: readonly (string | null)[], before: Look['before']): boolean {
  if (before === undefined) return true;
  return (before.next ? terms.slice(0, 1) : terms).some((term) => term !== null && before.form.test(term));
}

/** The same of a text; none where it is long or has faults, of which its sender learns otherwise. */
export function misreadingsOf(text: string): readonly Misreading[] {
  if (text.length > LONGEST_TEXT) return [];
  try {
    checkText(text);
    return misreadings(parse(text, 0n) ?? { filters: [] });
  } catch (error) {
    if (error instanceof LqlError) return [];
    throw error;
  }
}

/** A word that messages are searched for, as long as anybody would write an operator; null: the filter is no such. */
function bareTerm({ operator, role, quoted, ...test }: Filter): string | null {
  if (operator !== 'contains' || role !== 'message' || quoted) return null;
  return 'value' in test && typeof test.value === 'string' && test.value.length <= 256 ? test.value : null;
}
