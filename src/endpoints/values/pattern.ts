import { RE2JS, RE2JSSyntaxException } from 're2js';

import { MOST_PATTERN_COST, patternCost } from '../../googlesql/pattern-cost';

/** Classes that re2js knows and RE2 does not: binary properties, and the two general categories left out of RE2. */
const FOREIGN_CLASSES = new Set(
  (
    'ASCII_Hex_Digit Alphabetic Assigned Cn Dash Emoji Emoji_Component Emoji_Modifier Emoji_Modifier_Base ' +
    'Emoji_Presentation Extended_Pictographic Hex_Digit LC Lowercase Math Quotation_Mark Terminal_Punctuation Unknown ' +
    'Uppercase White_Space'
  ).split(' '),
);

/**
 * One unit of a pattern: a quoted run, a class by name, an escape, a POSIX class, the opening of a named group, the
 * opening of a class with a first `]` that is a member, or any character.
 */
const UNIT =
  /\\Q[\s\S]*?(?:\\E|$)|\\[pP]\{\^?([^}]*)\}|\\[\s\S]|\[:\^?[a-z]+:\]|\(\?<(?=[A-Za-z_0-9])|\[\^?\]?|[\s\S]/gu;

/**
 * Why RE2 would refuse the pattern; null: it takes it. The check runs before any query does (docs/endpoints.md).
 *
 * re2js follows RE2 closely; where it is more generous, the rest is done here: names of groups must be written
 * `(?P<name>`, as not every RE2 in use knows the short form, and some classes are unknown to RE2.
 */
export function patternFault(pattern: string): string | null {
  if (patternCost(pattern) > MOST_PATTERN_COST) return 'it is too large with its repetitions written out';
  try {
    RE2JS.compile(pattern);
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) return error.message.replace(/^error parsing regexp: /, '');
    throw error;
  }
  return foreignSyntax(pattern);
}

function foreignSyntax(pattern: string): string | null {
  let inClass = false;
  for (const [unit, className] of pattern.matchAll(UNIT)) {
    if (className !== undefined && FOREIGN_CLASSES.has(className)) return `unknown character class: \`${unit}\``;
    if (unit.startsWith('[:')) continue;
    if (inClass) inClass = unit.startsWith('\\') || !unit.endsWith(']');
    else if (unit.startsWith('[')) inClass = true;
    else if (unit === '(?<') return 'a group is named with (?P<name>...)';
  }
  return null;
}

/** The pattern that matches exactly this text: RE2's metacharacters quoted (docs/keys.md, Pins). */
export function quotePattern(text: string): string {
  return text.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&');
}
