/** Regular expressions: both engines are RE2, so patterns pass as they are; what a match gives differs. */
import { RE2JS } from 're2js';
import { step, QueryError, MOST_PATTERN_COST, patternCost } from '@logquay/googlesql/types';
import { rewritten } from '../expressions/makers';
import { type Call, type FunctionRow, type FunctionTable, arg, nullFirst, sqlOf } from '../expressions/call';
import { duckType, type Failure, quoteText } from '../../sql';
import { ofBytesToo } from './latin1';
import { ownFunction } from './own-functions';

/** What a literal pattern compiles to. null: it is not known before the query runs, or it is invalid and fails when it is used. */
function compiled(call: Call): RE2JS | null {
  const { constant, expr } = arg(call, 1);
  if (constant === null) return null;
  if (patternCost(constant) > MOST_PATTERN_COST) {
    throw new QueryError('resourcesExceeded', 'The regular expression is too large.', expr.span);
  }
  return compile(constant);
}

function compile(pattern: string): RE2JS | null {
  step();
  try {
    return RE2JS.compile(readable(pattern));
  } catch {
    return null;
  }
}

/** A quoted run, a class, an escape, the head of a group with a name. */
const READ =
  /\\Q[^]*?(?:\\E|$)|\[\^?\]?(?:\\[^]|\[:\^?\w+:\]|[^\]\\])*\]|\\[^]|\(\?P<[\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}]+>|\(\?</gu;

/** A pattern for re2js, which knows no `\C`, takes each name but once and of ASCII alone, and takes `(?<name>`, unlike DuckDB. */
function readable(pattern: string): string {
  return pattern.replace(READ, (token) => {
    if (token === '\\C') return '(?s:.)';
    if (token === '(?<') return '(?*';
    return token.startsWith('(') ? '(' : token;
  });
}

/** `\C` in a pattern, neither quoted nor behind a backslash. */
const BYTE_IN_PATTERN = String.raw`^(?s:(?:\\Q.*?(?:\\E|$)|\\[^CQ]|[^\\])*?)\\C`;

/** Whether a literal pattern has `\C`, which matches a byte. */
function matchesBytes(pattern: string | null): boolean {
  return pattern?.match(READ)?.includes('\\C') === true;
}

/** How many capturing groups the pattern has; null where it is not known before the query runs. */
function groups(call: Call): number | null {
  return arg(call, 1).constant === null ? null : (compiled(call)?.groupCount() ?? 0);
}

/** Whether the one group of a literal pattern never matches the empty text. */
function groupIsOfSomething(call: Call): boolean {
  const { constant } = arg(call, 1);
  const group = constant === null ? null : firstGroup(readable(constant));
  return group !== null && compile(`^(?:${group})$`)?.matches('') === false;
}

/** What stands between the parentheses of the first group that captures. */
function firstGroup(pattern: string): string | null {
  const token = /\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|\((?:\?P?<\w+>|\?[^)(:]*:?)?|\)|[^]/gs;
  let depth = 0;
  let start = -1;
  let startDepth = 0;
  for (const match of pattern.matchAll(token)) {
    const text = match[0];
    if (text.startsWith('(')) {
      if (start < 0 && (text === '(' || /^\(\?P?</.test(text))) {
        start = match.index + text.length;
        startDepth = depth;
      }
      depth++;
    } else if (text === ')') {
      depth--;
      if (start >= 0 && depth === startDepth) return pattern.slice(start, match.index);
    }
  }
  return null;
}

/** `with(1)` where there is a group, `with(0)` without one; more than one is an error. */
function byGroup(call: Call, text: string, pattern: string, print: (group: 0 | 1) => string): string {
  const count = groups(call);
  if (count === 0) return print(0);
  if (count === 1) return print(1);
  // Of its own type: DuckDB evaluates no list of which it knows that it can only be NULL.
  if (count !== null)
    return `CAST(CASE WHEN ${text} IS NOT NULL THEN ${call.fail('groups')} END AS ${duckType(call.type)})`;
  return `CASE WHEN ${pattern} IS NULL THEN NULL ELSE CASE ${openingParentheses(pattern)} WHEN 0 THEN ${print(0)} WHEN 1 THEN ${print(1)} ELSE ${call.fail('groups')} END END`;
}

/** How many groups of a pattern capture: opening parentheses that neither are escaped nor open a group that captures nothing. */
function openingParentheses(pattern: string): string {
  return `len(regexp_extract_all(regexp_replace(${pattern}, '\\\\.|\\[\\^?\\]?[^\\]]*\\]', '', 'g'), '\\((?:[^?]|\\?P?<|$)'))`;
}

function nothing({ type }: Call): string {
  return `CAST(NULL AS ${duckType(type)})`;
}

function onTexts(emit: (call: Call) => string): FunctionRow {
  return {
    emit: (call) => {
      // DuckDB compiles a literal pattern when it plans, where TRY does not catch its error.
      if (arg(call, 1).constant !== null && compiled(call) === null && call.safe) return nothing(call);
      const splits = call.name !== 'REGEXP_CONTAINS' && arg(call, 0).expr.type.kind === 'STRING';
      if (splits && matchesBytes(arg(call, 1).constant))
        return call.unsupported(`pattern \\C, one byte of a letter, in ${call.name} of STRING`);
      const [text, pattern] = [arg(call, 0), arg(call, 1)];
      // A literal pattern stays where it is, to be compiled once.
      if (pattern.constant !== null || !splits) return emit(call);
      return call.bind([text.sql, pattern.sql], (s, re) => {
        const printed = emit({ ...call, args: [{ ...text, sql: s }, { ...pattern, sql: re }, ...call.args.slice(2)] });
        // A part of a letter is no text.
        return `CASE WHEN regexp_matches(${re}, ${quoteText(BYTE_IN_PATTERN)}) THEN ${call.fail('regexp')} ELSE ${printed} END`;
      });
    },
    raises: true,
    inLatin1: true,
  };
}

/** Whether a position is behind the text, whose bytes count: behind letters of several bytes there is the empty text to be matched. */
function isBehind(s: string, p: string): string {
  return `${p} > strlen(${s})`;
}

/** The first match, or its group; NULL where nothing matches. */
function extract(call: Call): string {
  const [position, occurrence] = [call.args[2], call.args[3]];
  if (position !== undefined) {
    return call.bind(
      [sqlOf(call, 0), sqlOf(call, 1), position.sql, occurrence?.sql ?? '1'],
      (s, re, p, n) =>
        `CASE WHEN ${[s, re, p, n].map((x) => `${x} IS NULL`).join(' OR ')} THEN NULL WHEN ${p} < 1 OR ${n} < 1 THEN ${call.fail('argument')} ` +
        // A computed pattern that does not compile is an error there, too.
        `WHEN ${isBehind(s, p)} AND NOT (${s} = '' AND ${p} = 1) THEN ${groups(call) === null ? `CASE WHEN regexp_matches('', ${re}) IS NULL THEN '' END` : 'NULL'} ELSE ` +
        byGroup(call, s, re, (g) =>
          call.bind(
            [`substr(${s}, least(${p}, length(${s}) + 1))`],
            (rest) => `${allMatches(call, rest, re, g)}[${n}]`,
          ),
        ) +
        ' END',
    );
  }
  return call.bind([sqlOf(call, 0), sqlOf(call, 1)], (s, re) =>
    byGroup(call, s, re, (g) => {
      const text = `regexp_extract(${s}, ${re}, ${g})`;
      return `CASE WHEN regexp_matches(${s}, ${re}) THEN ${g === 0 ? text : groupOrNull(call, text, s, re)} END`;
    }),
  );
}

/** The text of a group, NULL of one that took no part in the match: DuckDB says '' for it, but not among all matches. */
function groupOrNull(call: Call, text: string, s: string, re: string): string {
  // A group of something is never ''.
  if (groupIsOfSomething(call)) return `nullif(${text}, '')`;
  const first = `regexp_extract_all(${s}, '\\A(?s:.*?)(?:' || ${re} || ')', 1)[1]`;
  return call.bind([text], (group) => `CASE WHEN ${group} = '' THEN ${first} ELSE ${group} END`);
}

function extractAll(call: Call): string {
  return call.bind([sqlOf(call, 0), sqlOf(call, 1)], (s, re) =>
    byGroup(call, s, re, (g) => {
      const all = allMatches(call, s, re, g);
      // A group that took no part in a match is '' here.
      return g === 0 ? all : `list_transform(${all}, lambda m: coalesce(m, ''))`;
    }),
  );
}

/** All matches or groups. DuckDB finds the empty text at the end of another once more, where nothing is left to search. */
function allMatches(call: Call, s: string, re: string, group: 0 | 1): string {
  return call.bind([`regexp_extract_all(${s}, ${re}, ${group})`], (list) => {
    const atEnd = `'\\A(?s:.*)(' || ${re} || ')\\z'`;
    const isExtra = `${s} <> '' AND regexp_matches(${s}, ${atEnd}) AND regexp_extract(${s}, ${atEnd}, 1) = ''`;
    const last = group === 0 ? `${list}[-1]` : `coalesce(${list}[-1], '')`;
    return `CASE WHEN ${last} = '' THEN CASE WHEN ${isExtra} THEN ${list}[1:-2] ELSE ${list} END ELSE ${list} END`;
  });
}

/** The place of a match or of its group: the first one, or a later one, or its end, from a position on. */
function instr(call: Call): string {
  const count = groups(call);
  const [position, occurrence, end] = [call.args[2]?.sql ?? '1', call.args[3]?.sql ?? '1', call.args[4]?.sql ?? '0'];
  if ((count ?? 0) > 1)
    return call.bind(
      [sqlOf(call, 0), position, occurrence, end],
      (s, p, n, e) =>
        `CAST(CASE WHEN ${p} >= 1 AND ${n} >= 1 AND ${e} IN (0, 1) AND ${isBehind(s, p)} THEN 0 WHEN ${s} IS NOT NULL THEN ${call.fail('groups')} END AS BIGINT)`,
    );
  return call.bind([sqlOf(call, 0), sqlOf(call, 1), position, occurrence, end], (...names) => {
    const own = ownPlace(call, names);
    // What DuckDB raises for a computed pattern would have to be caught around our function, which TRY does not take.
    if (call.safe) return own;
    if (count === 1) return call.args.length > 3 ? unlessNoMatch(names, own) : groupPlace(call, names, own);
    const place = call.args.length > 2 ? laterPlace(call, names, own) : firstPlace(call, names);
    return count === 0 ? place : `CASE WHEN ${openingParentheses(names[1])} > 0 THEN ${own} ELSE ${place} END`;
  });
}

/** The arguments of REGEXP_INSTR: text, pattern, position, occurrence, and 1 for the end of the match. */
type Names = readonly [s: string, re: string, p: string, n: string, e: string];

/** By a function of our own. */
function ownPlace(call: Call, [s, re, p, n, e]: Names): string {
  const given = [{ sql: s, sized: 'text' as const }, { sql: re, sized: 'text' as const }, ...[p, n, e].map(integer)];
  return call.bind([ownFunction(call, 'lq_regexp_place', given)], (place) => {
    const failures = Object.entries(NO_PLACE).map(([code, failure]) => `WHEN ${code} THEN ${call.fail(failure)}`);
    return `CASE ${place} ${failures.join(' ')} ELSE ${place} END`;
  });
}

/** What our function gives in place of a place. */
const NO_PLACE: Readonly<Record<string, Failure>> = { '-1': 'argument', '-2': 'regexp', '-3': 'size' };

function integer(sql: string): { sql: string } {
  return { sql: /^\d+$/.test(sql) ? `${sql}::BIGINT` : sql };
}

/** What a valid pattern gives without a look at the text by our function. */
function unlessNoMatch([s, re, p, n, e]: Names, own: string): string {
  const valid = `${p} >= 1 AND ${n} >= 1 AND ${e} IN (0, 1)`;
  // From a later position on, more may match than in the whole text.
  return `CASE WHEN ${p} = 1 AND ${valid} AND NOT regexp_matches(${s}, ${re}) THEN CAST(0 AS BIGINT) ELSE ${own} END`;
}

/** Of the one group of a literal pattern, by its text where that is in the match but once: else only our function knows. */
function groupPlace(call: Call, names: Names, own: string): string {
  const [s, re, p, n, e] = names;
  return call.bind([`substr(${s}, least(${p}, length(${s}) + 1))`], (rest) =>
    call.bind(
      [
        `regexp_extract(${rest}, '^((?s:.*?))(?:' || ${re} || ')', 1)`,
        `regexp_extract(${rest}, ${re}, 0)`,
        `regexp_extract(${rest}, ${re}, 1)`,
      ],
      (before, match, group) =>
        call.bind([`strpos(${match}, ${group})`], (at) => {
          const once = `${group} <> '' AND strpos(substr(${match}, ${at} + 1), ${group}) = 0`;
          const found = `CASE WHEN ${once} THEN ${p} + length(${before}) + ${at} - 1 ELSE ${own} END`;
          return `CASE WHEN ${p} < 1 OR ${p} > length(${s}) THEN ${own} ELSE ${unlessNoMatch([rest, re, '1', n, e], found)} END`;
        }),
    ),
  );
}

function laterPlace(call: Call, [s, re, p, n, e]: Names, own: string): string {
  return call.bind([`substr(${s}, least(${p}, length(${s}) + 1))`], (rest) =>
    call.bind([allMatches(call, rest, re, 0), `string_split_regex(${rest}, ${re})`], (matches, gaps) => {
      const before = (list: string, to: string): string =>
        `coalesce(list_sum(list_transform(${list}[1:${to}], lambda t: length(t))), 0)`;
      // Behind an empty match the text is not split as the matches are found.
      const empty = `list_contains(${matches}[1:${n}], '')`;
      const place = `CAST(${p} + ${before(gaps, n)} + ${before(matches, `${n} - 1 + ${e}`)} AS BIGINT)`;
      return (
        `CASE WHEN ${s} IS NULL OR ${re} IS NULL OR ${p} IS NULL OR ${n} IS NULL OR ${e} IS NULL THEN NULL ` +
        `WHEN ${p} < 1 OR ${n} < 1 OR ${e} NOT IN (0, 1) THEN ${call.fail('argument')} ` +
        `WHEN ${isBehind(s, p)} OR len(${matches}) < ${n} THEN 0 WHEN ${empty} THEN ${own} ELSE ${place} END`
      );
    }),
  );
}

function firstPlace(call: Call, [s, re]: Names): string {
  return call.bind([`regexp_extract(${s}, '^((?s:.*?))(?:' || ${re} || ')', 1)`], (prefix) => {
    // GoogleSQL gives the place behind an empty match, and none of the empty pattern.
    const isEmpty = `${prefix} <> ${s} AND regexp_extract(${s}, ${re}) = ''`;
    const place = `CASE WHEN ${re} = '' THEN 0 ELSE length(${prefix}) + CASE WHEN ${isEmpty} THEN 2 ELSE 1 END END`;
    return (
      `CASE WHEN ${s} = '' AND ${re} IS NOT NULL THEN CAST(regexp_matches('', ${re}) AS BIGINT) * 0 ` +
      `WHEN NOT regexp_matches(${s}, ${re}) THEN CAST(0 AS BIGINT) ` +
      `WHEN ${s} IS NOT NULL AND ${re} IS NOT NULL THEN ${place} END`
    );
  });
}

function replace(call: Call): string {
  const replacement = arg(call, 2).constant;
  const count = groups(call);
  if (replacement !== null && count !== null) {
    // RE2's rewrite: `\\0` to `\\9` and `\\\\`; anything else after a backslash, and a group that is not there, is an error.
    const parts = replacement.match(/\\[^]?/g) ?? [];
    const valid = parts.every((p) => p === '\\\\' || (/^\\\d$/.test(p) && Number(p[1]) <= count));
    if (!valid)
      return `CAST(CASE WHEN ${sqlOf(call, 0)} IS NOT NULL AND ${sqlOf(call, 1)} IS NOT NULL THEN ${call.fail('regexp')} END AS VARCHAR)`;
  }
  if (replacement === null || count === null) return computedReplacement(call, count);
  return rewritten(
    call,
    (_text, _pattern, to) => `greatest(coalesce(strlen(${to}), 0), 1)`,
    (...names) => `regexp_replace(${names.join(', ')}, 'g')`,
  );
}

/** What a rewrite may hold is known only with it: a backslash before another or before the number of a group that there is. */
function computedReplacement(call: Call, count: number | null): string {
  return rewritten(
    call,
    (_text, _pattern, to) => `greatest(coalesce(strlen(${to}), 0), 1)`,
    (...all) =>
      call.bind(all, (s, re, to) => {
        const written = `regexp_full_match(${to}, '(?s)(?:[^\\\\]|\\\\[\\\\0-9])*')`;
        const plain = `replace(${to}, '\\\\', '')`;
        const numbers = `list_transform(regexp_extract_all(${plain}, '\\\\([0-9])', 1), lambda d: CAST(d AS BIGINT))`;
        const most = `coalesce(list_max(${numbers}), 0)`;
        const groups = count === null ? openingParentheses(re) : String(count);
        return `CASE WHEN ${s} IS NULL OR ${re} IS NULL THEN NULL WHEN NOT ${written} OR ${most} > ${groups} THEN ${call.fail('regexp')} ELSE regexp_replace(${s}, ${re}, ${to}, 'g') END`;
      }),
  );
}

export const REGEXP_FUNCTIONS = {
  REGEXP_CONTAINS: onTexts((call) => `regexp_matches(${sqlOf(call, 0)}, ${sqlOf(call, 1)})`),
  REGEXP_EXTRACT: nullFirst(onTexts(extract)),
  REGEXP_EXTRACT_ALL: nullFirst(onTexts(extractAll)),
  // An error of DuckDB may only come where SAFE. is not.
  REGEXP_INSTR: nullFirst(ofBytesToo(onTexts(instr).emit)),
  REGEXP_REPLACE: nullFirst(onTexts(replace)),
} satisfies FunctionTable;
