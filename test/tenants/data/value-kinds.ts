/** Kinds of text and number that log fields hold, each with values that functions accept and values that make them fail. */
import type { Random } from '../../sandbox/fuzz/random';

export const TEXT_KINDS = [
  'words',
  'number',
  'json',
  'pattern',
  'like',
  'zone',
  'date',
  'civil',
  'instant',
  'clock',
  'hex',
  'base64',
  'flag',
] as const;

export type TextKind = (typeof TEXT_KINDS)[number];
/** `count`: an INT64; `ratio`: a FLOAT64; `truth`: a BOOL; `moment`: a TIMESTAMP; `other`: read by no function of a kind. */
export type Kind = TextKind | 'count' | 'ratio' | 'truth' | 'moment' | 'other';

/** Values of rows that a project sees: every function that is made for the kind accepts them. */
const ACCEPTED: Readonly<Record<TextKind, (random: Random) => string>> = {
  words: (random) => `${random.pick(['request', 'cache', 'login', 'reset'])} ${random.pick(['ok', 'done', 'slow'])}`,
  number: (random) => String(1 + random.below(200)),
  json: (random) => JSON.stringify({ n: 1 + random.below(9), s: 'on', b: true, f: 1.5, a: [1, 2] }),
  pattern: (random) => random.pick(['^[a-m]+', 'o.k', '(a|b)', '\\d{1,3}', 'z$']),
  like: (random) => random.pick(['a%', '_b%', '%c', 'abc']),
  zone: (random) => random.pick(['UTC', 'Europe/Berlin', '+02:00', 'Pacific/Auckland']),
  date: (random) => `2026-0${1 + random.below(9)}-1${random.below(9)}`,
  civil: (random) => `2026-09-1${random.below(9)} 1${random.below(9)}:00:00`,
  instant: (random) => `2026-09-1${random.below(9)}T1${random.below(9)}:00:00Z`,
  clock: (random) => `1${random.below(9)}:2${random.below(9)}:00`,
  hex: (random) => random.pick(['ab12', '00ff', 'c0de']),
  base64: (random) => random.pick(['aGk=', 'b2s=', 'bG9n']),
  flag: (random) => random.pick(['true', 'false']),
};

/** Values that make some function of the kind fail. */
const FAILING: Readonly<Record<TextKind, readonly string[]>> = {
  words: ['', 'x', 'boom', `${'long '.repeat(60)}end`],
  number: ['boom', '', '0', '-1', '99999999999999999999', '9223372036854775807', '1e400', '1'.repeat(45), ' 7 x'],
  json: ['{bad', '', '[', 'null', '"text"', '{"n": "boom"}', '{"n": 1e300, "s": 5, "b": "x"}', '{"n": 1.5}', '[[]]'],
  pattern: ['(', '[', '*x', 'a{99999}', '\\', '(?<n', 'x**'],
  like: ['abc\\', '%\\'],
  zone: ['Nowhere/Land', '', '+99:99', 'boom', 'utc+25'],
  date: ['2026-13-45', '', 'boom', '0000-00-00', '2026-02-30', '10000-01-01'],
  civil: ['2026-09-10 25:00:00', '', 'boom', '2026-09-31 10:00:00'],
  instant: ['boom', '', '2026-09-10T99:00:00Z', '2026-09-10T10:00:00+99:00'],
  clock: ['25:00:00', '', 'boom', '10:61:00'],
  hex: ['xyz', 'g0', '???'],
  base64: ['***', 'a', '=aaa'],
  flag: ['boom', '', 'yes', '2'],
};

/** Texts that only rows of other projects begin with: what conditions on them look for. */
export const SECRETS: readonly string[] = ['Alpha', 'Amber', 'Bravo', 'Zulu', 'Secret-1', 'Secret-2'];

export function acceptedText(kind: TextKind, random: Random): string {
  return ACCEPTED[kind](random);
}

export function failingText(kind: TextKind, random: Random): string {
  return random.pick(FAILING[kind]);
}

/** A secret text: on its own, or before something more. */
export function secretText(random: Random): string {
  return `${random.pick(SECRETS)}${random.chance(50) ? ` ${String(random.below(1000))}` : ''}`;
}

/** From 1 to 200: in range of every function that takes a number. */
export function acceptedCount(random: Random): number {
  return 1 + random.below(200);
}

const FAILING_COUNTS = [
  '0',
  '-1',
  '-9223372036854775808',
  '9223372036854775807',
  '9007199254740993',
  '100000000',
  '-7',
];

/** As text: some are beyond 2^53. */
export function failingCount(random: Random): string {
  return random.pick(FAILING_COUNTS);
}
