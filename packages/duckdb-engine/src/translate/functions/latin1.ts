/**
 * Functions of STRING over BYTES: these go in as text of Latin-1, each byte the character of its number, and come back as
 * BYTES. So positions and lengths count bytes, and regular expressions match as RE2 does for BYTES.
 */
import { type SqlType, latin1Pattern } from '@logquay/googlesql/types';
import type { Argument, Call, FunctionRow } from '../expressions/call';
import { ownFunction } from './own-functions';
import { quoteText } from '../../sql';

/** A function that is the same of STRING and of the Latin-1 text of BYTES. */
export function ofBytesToo(emit: (call: Call) => string): FunctionRow {
  return { emit, inLatin1: true };
}

/** Whether `overLatin1` has to print the call. */
export function goesInLatin1({ inLatin1 }: FunctionRow, args: readonly Pick<Argument, 'type'>[]): boolean {
  return inLatin1 === true && args.some(({ type }) => type.kind === 'BYTES');
}

/** The call as `emit` prints it of STRING, of the texts of its BYTES. @param raises see FunctionRow */
export function overLatin1(call: Call, { emit, raises }: FunctionRow): string {
  const computed = call.args.map((a, i) => ({ a, i })).filter(({ a }) => a.constant === null);
  const values = computed.map(({ a, i }) =>
    a.type.kind === 'BYTES' ? latin1(call, a.sql, isPattern(call, i)) : a.sql,
  );
  return call.bind(values, (...names) => {
    const next = names.values();
    const texts = call.args.map((a, i): Argument => {
      const type = typeOfText(a.type);
      if (a.constant === null) return { ...a, type, sql: next.next().value! };
      if (a.type.kind !== 'BYTES') return a;
      const constant = isPattern(call, i) ? latin1Pattern(a.constant) : a.constant;
      return { ...a, type, sql: quoteText(constant), constant };
    });
    const printed = emit({ ...call, args: withPlace(call, texts), type: typeOfText(call.type) });
    // SAFE. is for the function alone: what is around it here may fail.
    return asBytes(call, call.safe && raises === true ? `TRY(${printed})` : printed);
  });
}

function isPattern({ name }: Call, i: number): boolean {
  return i === 1 && name.startsWith('REGEXP_');
}

function typeOfText(type: SqlType): SqlType {
  if (type.kind === 'BYTES') return { kind: 'STRING' };
  return type.kind === 'ARRAY' && type.element.kind === 'BYTES' ? { kind: 'ARRAY', element: { kind: 'STRING' } } : type;
}

function latin1(call: Call, bytes: string, pattern: boolean): string {
  return ownFunction(call, pattern ? 'lq_latin1_pattern' : 'lq_latin1', [{ sql: bytes, sized: 'bytes' }], {
    text: true,
  });
}

/** Far behind every text. */
const FAR = '1000000000000::BIGINT';

/** A position behind the last byte is moved far away: of STRING the bytes of its UTF-8 count, which are more here. */
function withPlace({ name }: Call, args: readonly Argument[]): readonly Argument[] {
  const [text, , position] = args;
  if (text === undefined || position === undefined || !/^REGEXP_(?:EXTRACT|INSTR)$/.test(name)) return args;
  const isBehind = `${text.sql} <> '' AND ${position.sql} > length(${text.sql})`;
  const place = { ...position, sql: `CASE WHEN ${isBehind} THEN ${FAR} ELSE ${position.sql} END`, constant: null };
  return args.map((a, i) => (i === 2 ? place : a));
}

/** Text and arrays of texts as BYTES again. */
function asBytes(call: Call, text: string): string {
  const { type } = call;
  if (type.kind === 'BYTES') return ownFunction(call, 'lq_bytes_of_latin1', [{ sql: text, sized: 'text' }]);
  if (type.kind !== 'ARRAY' || type.element.kind !== 'BYTES') return text;
  // All of them at once: a call of our own for each would take longer.
  const joined = `array_to_string(list_transform(${text}, lambda e: e || 'Ā'), '')`;
  const digits = ownFunction(call, 'lq_hex_of_latin1_texts', [{ sql: joined, sized: 'text' }], { text: true });
  return `list_transform(string_split(${digits}, ',')[1:-2], lambda e: unhex(e))`;
}
