/**
 * FORMAT_DATE, FORMAT_DATETIME, FORMAT_TIME and FORMAT_TIMESTAMP by a format that is known only when the query runs, or that
 * has a width or a flag. GoogleSQL's elements go before those of C's strftime, which takes what lies between them.
 */
import { CivilClock } from './civil-clock';
import { scalarFunction } from './scalar-function';
import {
  COMPOSED,
  CompiledFormats,
  DAYS,
  elementStarts,
  isLacking,
  LACKING,
  MONTHS,
  type TimeKind,
} from './time-elements';

type Piece = string | ((clock: CivilClock) => string);
/** Null: the format is an error. */
type Pieces = readonly Piece[] | null;

const nameOf = (names: readonly string[], at: number): string => names[at]!;
const short = (name: string): string => name.slice(0, 3);
const halfDay = (clock: CivilClock): string => (clock.hour < 12 ? 'AM' : 'PM');
const twelfth = (clock: CivilClock): number => ((clock.hour + 11) % 12) + 1;

/** Elements that are names. */
const NAMES: Readonly<Record<string, (clock: CivilClock) => string>> = {
  A: (c) => nameOf(DAYS, c.weekday),
  a: (c) => short(nameOf(DAYS, c.weekday)),
  B: (c) => nameOf(MONTHS, c.month - 1),
  b: (c) => short(nameOf(MONTHS, c.month - 1)),
  h: (c) => short(nameOf(MONTHS, c.month - 1)),
  p: halfDay,
  P: (c) => halfDay(c).toLowerCase(),
  Z: () => 'UTC',
};

/** Elements that are numbers: with so many digits at least, and what these are filled up with. */
const NUMBERS: Readonly<Record<string, readonly [of: (c: CivilClock) => number, digits: number, filler: '0' | ' ']>> = {
  C: [(c) => Math.floor(c.year / 100), 1, '0'],
  d: [(c) => c.day, 2, '0'],
  e: [(c) => c.day, 2, ' '],
  G: [(c) => c.isoWeek.year, 1, '0'],
  g: [(c) => c.isoWeek.year % 100, 2, '0'],
  H: [(c) => c.hour, 2, '0'],
  I: [twelfth, 2, '0'],
  j: [(c) => c.dayOfYear, 3, '0'],
  k: [(c) => c.hour, 2, ' '],
  l: [twelfth, 2, ' '],
  M: [(c) => c.minute, 2, '0'],
  m: [(c) => c.month, 2, '0'],
  S: [(c) => c.second, 2, '0'],
  U: [(c) => c.week(0), 2, '0'],
  u: [(c) => c.weekday || 7, 1, '0'],
  V: [(c) => c.isoWeek.week, 2, '0'],
  W: [(c) => c.week(1), 2, '0'],
  w: [(c) => c.weekday, 1, '0'],
  Y: [(c) => c.year, 1, '0'],
  y: [(c) => c.year % 100, 2, '0'],
};

/** Behind `%E` and `%O` only these. */
const MODIFIED: Readonly<Record<string, string>> = { E: 'cCnpPrRstTuxXyYzZ%', O: 'bBCdegGhHIjklmMnpPrRsStTuUVwWyzZ%' };

// ---------------------------------------------------------------------------- what strftime takes

interface Conversion {
  /** As it is written. */
  readonly text: string;
  /** The last of `-`, `_` and `0`. */
  readonly pad: string;
  readonly upper: boolean;
  readonly swap: boolean;
  readonly width: number;
  readonly letter: string;
}

/** Wider fields than anyone reads. */
const WIDEST = 1_000;
const WIDTH = /%[-_0^#]*(\d+)/g;
const CONVERSION = /%([-_0^#]*)(\d*)([EO]?)([^]?)|[^%]+/g;

function piecesOfSegment(segment: string): Piece[] {
  const pieces: Piece[] = [];
  for (const [text, flags = '', width = '', modifier = '', letter = ''] of segment.matchAll(CONVERSION)) {
    const conversion = {
      text,
      pad: /[-_0](?=[\^#]*$)/.exec(flags)?.[0] ?? '',
      upper: flags.includes('^') || (flags.includes('#') && 'bBh'.includes(letter)),
      swap: flags.includes('#'),
      width: Number(width),
      letter: modifier !== '' && MODIFIED[modifier]?.includes(letter) !== true ? '' : letter,
    };
    pieces.push(text.startsWith('%') ? converted(conversion) : text);
  }
  return pieces;
}

/** strftime takes an hour of daylight saving time for one of standard time there. */
function hasEpoch(segment: string): boolean {
  return [...segment.matchAll(CONVERSION)].some(([, , , , letter]) => letter === 's');
}

/** Of a conversion that there is not: as it is written. */
function converted(conversion: Conversion): Piece {
  const { letter, upper, text } = conversion;
  if (letter === 'z') return offset(conversion);
  if (letter === 's') return (clock) => padded(String(clock.civilSeconds), conversion);
  const number = NUMBERS[letter];
  if (number !== undefined) {
    const [of, digits, filler] = number;
    return (clock) => numeral(of(clock), digits, filler, conversion);
  }
  const name = NAMES[letter];
  if (name !== undefined) return (clock) => padded(inCase(name(clock), conversion), conversion);
  if (letter === '%') return padded('%', conversion);
  const composed = COMPOSED[letter];
  if (composed === undefined) return padded(upper ? capitals(text) : text, conversion);
  const pieces = piecesOfSegment(upper ? composed.replace(/%(?=[ab])/g, '%^') : composed);
  return (clock) => padded(joined(pieces, clock), conversion);
}

/** `#` makes capitals of names, and small letters of what has none. */
function inCase(name: string, { letter, upper, swap }: Conversion): string {
  if (letter === 'P') return name;
  if (swap) return 'pZ'.includes(letter) ? name.toLowerCase() : name.toUpperCase();
  return upper ? name.toUpperCase() : name;
}

/** Of ASCII alone. */
function capitals(text: string): string {
  return text.replace(/[a-z]/g, (letter) => letter.toUpperCase());
}

function padded(text: string, { width, pad }: Conversion): string {
  return text.padStart(width, pad === '0' ? '0' : ' ');
}

function numeral(value: number, digits: number, filler: '0' | ' ', { width, pad }: Conversion): string {
  if (pad === '-') return String(value).padStart(width, ' ');
  return String(value).padStart(Math.max(width, digits), pad === '_' ? ' ' : pad === '0' ? '0' : filler);
}

/** The zone's own offset is put in before this is looked at: what is left is that of UTC, its sign and digits filled up alike. */
function offset(conversion: Conversion): string {
  return padded('+', conversion) + numeral(0, 4, '0', conversion);
}

// ---------------------------------------------------------------------------- what goes before

/** Elements without flags of which GoogleSQL takes care. */
const OWN = /^(?:[YmdeUuWwHMSzZsQJ]|:{1,3}z|Ez|E\*z|ET|E\*[Sf]|E4Y|E\d+[Sf])/;
/** A conversion that has no letter yet. */
const UNFINISHED = /(?:^|[^%])(?:%%)*%[-_0^#]*\d*[EO]?$/;
/** More digits of a fraction are not written. */
const MOST_DIGITS = 18;

function compiled(format: string, kind: TimeKind): Pieces | 'refused' {
  if ([...format.matchAll(WIDTH)].some(([, width]) => Number(width) > WIDEST)) return 'refused';
  // The reference cuts these short.
  if (kind !== 'TIMESTAMP' && /%\d+[EO]$/.test(format)) return 'refused';

  const escaped = withoutLacking(format, kind);
  const pieces: Piece[] = [];
  const segments: string[] = [];
  let pending = 0;
  for (const { rest } of elementStarts(escaped)) {
    const start = escaped.length - rest.length - 1;
    const [element] = OWN.exec(rest) ?? [];
    if (element === undefined || (kind === 'TIME' && 'QJ'.includes(element))) continue;
    if (element === 'J') return null;
    if ('QZ'.includes(element) && UNFINISHED.test(escaped.slice(pending, start))) return 'refused';
    segments.push(escaped.slice(pending, start));
    pieces.push(...piecesOfSegment(escaped.slice(pending, start)), own(element));
    pending = start + 1 + element.length;
  }
  segments.push(escaped.slice(pending));
  if (kind === 'TIMESTAMP' && segments.some(hasEpoch)) return 'refused';
  return [...pieces, ...piecesOfSegment(escaped.slice(pending))];
}

/** What a value of the kind lacks is text as it stands. */
function withoutLacking(format: string, kind: TimeKind): string {
  const lacking = LACKING[kind] + (kind === 'TIME' ? 'Q' : '');
  return format.replace(/%+/g, (run: string, at: number) => {
    const rest = format.slice(at + run.length);
    const [width = ''] = /^\d*/.exec(rest) ?? [];
    const behind = rest.slice(width.length);
    // E and O are not looked behind where there is a width.
    const lacks = width === '' || !/^[EO]/.test(behind) ? isLacking(behind, lacking) : false;
    return run.length % 2 === 1 && lacks ? `%${run}` : run;
  });
}

function own(element: string): Piece {
  if (element === 'ET') return 'T';
  const fraction = /^E(\d+|\*)([Sf])$/.exec(element);
  if (fraction !== null) return fractional(fraction[1]!, fraction[2] === 'S');
  switch (element) {
    case 'E4Y':
      return (c) => String(c.year).padStart(4, '0');
    case 'Q':
      return (c) => String(Math.ceil(c.month / 3));
    case 's':
      return (c) => String(c.seconds);
    case 'Z':
      return zoneName;
    case 'z':
      return (c) => offsetText(c, '');
    case 'Ez':
    case ':z':
      return (c) => offsetText(c, ':');
    case 'E*z':
    case '::z':
      return (c) => `${offsetText(c, ':')}:00`;
    case ':::z':
      return (c) => (c.offset % 60 === 0 ? offsetText(c, '').slice(0, 3) : offsetText(c, ':'));
    default:
      return converted({ text: '', pad: '', upper: false, swap: false, width: 0, letter: element });
  }
}

function offsetText({ offset }: CivilClock, colon: string): string {
  const size = Math.abs(offset);
  const [hours, minutes] = [Math.floor(size / 60), size % 60].map((part) => String(part).padStart(2, '0'));
  return `${offset < 0 ? '-' : '+'}${hours!}${colon}${minutes!}`;
}

function zoneName(clock: CivilClock): string {
  const size = Math.abs(clock.offset);
  if (size === 0) return 'UTC';
  return `UTC${size % 60 === 0 ? `${clock.offset < 0 ? '-' : '+'}${size / 60}` : offsetText(clock, '')}`;
}

/** The fraction of a second, or with the second before it; `*` for as many digits as there are. */
function fractional(count: string, withSecond: boolean): Piece {
  const digits = count === '*' ? null : Math.min(Number(count), MOST_DIGITS);
  return (clock) => {
    const all = String(clock.micros).padStart(6, '0');
    const some = digits === null ? all.replace(/0+$/, '') : all.padEnd(digits, '0').slice(0, digits);
    if (!withSecond) return some === '' && digits === null ? '0' : some;
    return `${String(clock.second).padStart(2, '0')}${some === '' ? '' : `.${some}`}`;
  };
}

function joined(pieces: readonly Piece[], clock: CivilClock): string {
  let text = '';
  for (const piece of pieces) text += typeof piece === 'string' ? piece : piece(clock);
  return text;
}

// ---------------------------------------------------------------------------- the function

const formats = new CompiledFormats(compiled);
/** Units of the budget for each piece. */
const FOR_PIECE = 150;

/**
 * The text of a civil time, behind a "=" as it may be empty; empty where the format is an error.
 *
 * @param civil and `instant`: microseconds since 1970
 * @param kind its place in TIME_KINDS
 */
export const formatTime = scalarFunction(
  ['text', 'integer', 'integer', 'integer'],
  'text',
  (format, civil, instant, kind, budget) => {
    const pieces = formats.get(format, kind, budget);
    if (pieces === null || pieces === undefined || !budget.spend(FOR_PIECE * (pieces.length + 16))) return null;
    const text = joined(pieces, new CivilClock(civil, instant));
    return budget.spend(text.length) ? `=${text}` : null;
  },
);
