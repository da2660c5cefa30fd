/**
 * Which values GoogleSQL converts by itself: the rules of the reference's "Conversion rules" page, as the analyser
 * applies them. Literals and parameters convert more freely than columns, and what an overload costs is counted.
 */
import { equivalentTypes, sameType } from './type-names';
import type { ResolvedLiteral } from './resolved';
import type { ScalarName, SqlType } from './types';

/** An operand as overload resolution sees it: its type and how freely it converts. */
export interface Operand {
  readonly type: SqlType;
  /** `null`, `empty`: an untyped NULL or `[]`, which can be of any (array) type. */
  readonly form: 'value' | 'literal' | 'parameter' | 'null' | 'empty';
  /** Of a struct built in place: its fields convert one by one. */
  readonly fields?: readonly Operand[];
  readonly literal?: ResolvedLiteral;
}

export const untyped = (operand: Operand): boolean => operand.form === 'null' || operand.form === 'empty';

/** How far a call's operands are from a signature; smaller is closer, in this order. */
export interface Distance {
  values: number;
  valueSteps: number;
  literals: number;
  literalSteps: number;
}

export const noDistance = (): Distance => ({ values: 0, valueSteps: 0, literals: 0, literalSteps: 0 });

export function closer(a: Distance, b: Distance): boolean {
  if (a.values !== b.values) return a.values < b.values;
  if (a.valueSteps !== b.valueSteps) return a.valueSteps < b.valueSteps;
  if (a.literals !== b.literals) return a.literals < b.literals;
  return a.literalSteps < b.literalSteps;
}

type Freedom = 'implicit' | 'literal' | 'parameter' | 'explicit';

/** What may become what. A kind converts to itself implicitly; what is not listed is not even a CAST. */
const CONVERSIONS: Readonly<Record<ScalarName, Readonly<Partial<Record<ScalarName, Freedom>>>>> = {
  BOOL: { INT64: 'explicit', STRING: 'explicit' },
  INT64: { BOOL: 'explicit', FLOAT64: 'implicit', STRING: 'explicit', NUMERIC: 'implicit', BIGNUMERIC: 'implicit' },
  NUMERIC: { INT64: 'explicit', FLOAT64: 'implicit', STRING: 'explicit', BIGNUMERIC: 'implicit' },
  BIGNUMERIC: { INT64: 'explicit', FLOAT64: 'implicit', STRING: 'explicit', NUMERIC: 'explicit' },
  FLOAT64: { INT64: 'explicit', STRING: 'explicit', NUMERIC: 'literal', BIGNUMERIC: 'literal' },
  STRING: {
    INT64: 'explicit',
    FLOAT64: 'explicit',
    BYTES: 'explicit',
    DATE: 'parameter',
    TIMESTAMP: 'parameter',
    TIME: 'parameter',
    DATETIME: 'parameter',
    INTERVAL: 'explicit',
    BOOL: 'explicit',
    NUMERIC: 'explicit',
    BIGNUMERIC: 'explicit',
  },
  BYTES: { STRING: 'explicit' },
  DATE: { DATETIME: 'implicit', TIMESTAMP: 'explicit', STRING: 'explicit' },
  TIMESTAMP: { DATE: 'explicit', DATETIME: 'explicit', TIME: 'explicit', STRING: 'explicit' },
  TIME: { STRING: 'explicit' },
  DATETIME: { DATE: 'explicit', STRING: 'explicit', TIME: 'explicit', TIMESTAMP: 'explicit' },
  INTERVAL: { STRING: 'explicit' },
  GEOGRAPHY: {},
  JSON: {},
};

/** Positions on a line: the further apart, the dearer the conversion. Only differences mean anything. */
const PLACE: Readonly<Record<SqlType['kind'], number>> = {
  TIME: 2,
  DATETIME: 3,
  TIMESTAMP: 8,
  DATE: 9,
  BOOL: 10,
  INT64: 14,
  NUMERIC: 15,
  BIGNUMERIC: 16,
  FLOAT64: 17,
  STRING: 19,
  BYTES: 20,
  STRUCT: 22,
  ARRAY: 23,
  GEOGRAPHY: 24,
  JSON: 26,
  INTERVAL: 27,
  RANGE: 28,
};

/** From narrow to wide: the supertype of several types is the first that all can become. */
const WIDTH: readonly ScalarName[] = ['DATE', 'DATETIME', 'INT64', 'NUMERIC', 'BIGNUMERIC', 'FLOAT64'];

const isScalar = (type: SqlType): type is { readonly kind: ScalarName } =>
  type.kind !== 'ARRAY' && type.kind !== 'STRUCT' && type.kind !== 'RANGE';

const steps = (from: SqlType, to: SqlType): number => Math.abs(PLACE[from.kind] - PLACE[to.kind]);

function freedom(from: SqlType, to: SqlType): Freedom | undefined {
  if (from.kind === 'RANGE' || to.kind === 'RANGE') {
    if (from.kind === 'STRING' || to.kind === 'STRING') return 'explicit';
    return sameType(from, to) ? 'implicit' : undefined;
  }
  if (!isScalar(from) || !isScalar(to)) return undefined;
  return from.kind === to.kind ? 'implicit' : CONVERSIONS[from.kind][to.kind];
}

/** Whether `CAST(from AS to)` exists; structs field by field, arrays by element. */
export function castable(from: SqlType, to: SqlType): boolean {
  if (from.kind === 'ARRAY') return to.kind === 'ARRAY' && castable(from.element, to.element);
  if (from.kind === 'STRUCT') {
    return (
      to.kind === 'STRUCT' &&
      from.fields.length === to.fields.length &&
      from.fields.every((field, i) => {
        const target = to.fields[i];
        return target !== undefined && castable(field.type, target.type);
      })
    );
  }
  return freedom(from, to) !== undefined;
}

/** Whether the operand becomes `to` without CAST; `distance` is added to where it does. */
export function coerces(operand: Operand, to: SqlType, distance: Distance = noDistance()): boolean {
  if (untyped(operand)) return true;
  const from = operand.type;
  if (from.kind === 'STRUCT') return structCoerces(from, operand, to, distance);
  if (from.kind === 'ARRAY') {
    if (equivalentTypes(from, to)) return true;
    if (to.kind !== 'ARRAY' || operand.form === 'value') return false;
    return coerces({ type: from.element, form: operand.form }, to.element, distance);
  }
  const how = freedom(from, to);
  if (how === undefined || how === 'explicit') return false;
  if (operand.form === 'value') {
    if (how !== 'implicit') return false;
    distance.values++;
    distance.valueSteps += steps(from, to);
    return true;
  }
  if (operand.form === 'parameter' && how === 'literal') return false;
  distance.literals++;
  distance.literalSteps += steps(from, to);
  return true;
}

function structCoerces(from: SqlType & { kind: 'STRUCT' }, operand: Operand, to: SqlType, distance: Distance): boolean {
  if (to.kind !== 'STRUCT' || from.fields.length !== to.fields.length) return false;
  return from.fields.every((field, i) => {
    const target = to.fields[i];
    if (target === undefined) return false;
    if (sameType(field.type, target.type)) return true;
    return coerces(operand.fields?.[i] ?? { type: field.type, form: 'value' }, target.type, distance);
  });
}

/** What matching an operand of a known type to a signature's type adds, once it is known to match. */
export function addMatch(operand: Operand, to: SqlType, distance: Distance): void {
  if (sameType(operand.type, to) && !untyped(operand)) return;
  if (untyped(operand)) {
    const bare: SqlType = operand.form === 'empty' ? { kind: 'ARRAY', element: { kind: 'INT64' } } : { kind: 'INT64' };
    if (sameType(bare, to)) return;
    distance.literals++;
    distance.literalSteps += 1;
  } else if (operand.form === 'literal') {
    distance.literals++;
    distance.literalSteps += steps(operand.type, to);
  } else {
    distance.values++;
    distance.valueSteps += steps(operand.type, to);
  }
}

/** The type that all operands can have, or null without such a type. Of NULLs alone it is INT64. */
export function supertype(operands: readonly Operand[]): SqlType | null {
  return supertypeOf(operands, dominantOf(operands), false) ?? supertypeOf(operands, dominantOf(operands), true);
}

/** The operand whose field names and type lead: the first with a type, but a struct or array before a scalar. */
function dominantOf(operands: readonly Operand[]): Operand | null {
  let dominant: Operand | null = null;
  for (const operand of operands) {
    if (operand.form === 'empty') continue;
    if (dominant === null) {
      if (!untyped(operand)) dominant = operand;
    } else if (isScalar(dominant.type) && !isScalar(operand.type)) dominant = operand;
  }
  return dominant;
}

function supertypeOf(
  operands: readonly Operand[],
  dominant: Operand | null,
  parametersAsLiterals: boolean,
): SqlType | null {
  const typed = operands.filter((operand) => !untyped(operand));
  if (dominant === null || typed.length === 0) {
    const bare: SqlType = { kind: 'INT64' };
    return operands.some((operand) => operand.form === 'empty') ? { kind: 'ARRAY', element: bare } : bare;
  }
  if (typed.some((operand) => operand.type.kind === 'STRUCT')) return structSupertype(typed, dominant);
  if (typed.some((operand) => operand.type.kind === 'ARRAY')) return arraySupertype(typed, dominant);
  if (operands.some((operand) => operand.form === 'empty')) return null;
  if (typed.every((operand) => sameType(operand.type, dominant.type))) return dominant.type;
  return scalarSupertype(typed, parametersAsLiterals);
}

function scalarSupertype(typed: readonly Operand[], parametersAsLiterals: boolean): SqlType | null {
  const free = (operand: Operand): boolean =>
    operand.form === 'literal' || (parametersAsLiterals && operand.form === 'parameter');
  const fixed = typed.filter((operand) => !free(operand));
  const has = (kind: ScalarName): boolean => typed.some((operand) => operand.type.kind === kind);
  const first = fixed[0];
  if (first === undefined) {
    return supertypeOf(
      typed.map(({ type }) => ({ type, form: 'value' as const })),
      { type: typed[0]?.type ?? { kind: 'INT64' }, form: 'value' },
      parametersAsLiterals,
    );
  }
  const wider = WIDTH.filter((kind) => kind !== first.type.kind).map((kind): SqlType => ({ kind }));
  for (const candidate of [first.type, ...wider]) {
    if (!fixed.every((operand) => freedom(operand.type, candidate) === 'implicit')) continue;
    const { kind } = candidate;
    if ((kind === 'FLOAT64' || kind === 'NUMERIC' || kind === 'BIGNUMERIC') && !has(kind)) continue;
    if (typed.every((operand) => !free(operand) || coerces(operand, candidate))) return candidate;
  }
  return null;
}

function structSupertype(typed: readonly Operand[], dominant: Operand): SqlType | null {
  const lead = dominant.type;
  if (lead.kind !== 'STRUCT') return null;
  if (typed.every((operand) => sameType(operand.type, lead))) return lead;
  const fields: { name: string | null; type: SqlType }[] = [];
  for (const [i, field] of lead.fields.entries()) {
    const parts: Operand[] = [];
    for (const operand of [dominant, ...typed]) {
      if (operand.type.kind !== 'STRUCT' || operand.type.fields.length !== lead.fields.length) return null;
      const type = operand.type.fields[i]?.type;
      if (type === undefined) return null;
      parts.push(operand.fields?.[i] ?? { type, form: operand.form });
    }
    const type = supertype(parts);
    if (type === null) return null;
    fields.push({ name: field.name, type: parts[0] !== undefined && untyped(parts[0]) ? anonymous(type) : type });
  }
  return { kind: 'STRUCT', fields };
}

/** A NULL in the leading struct lends no names, and another operand's names do not leak in. */
function anonymous(type: SqlType): SqlType {
  if (type.kind !== 'STRUCT') return type;
  return { kind: 'STRUCT', fields: type.fields.map((field) => ({ name: null, type: anonymous(field.type) })) };
}

function arraySupertype(typed: readonly Operand[], dominant: Operand): SqlType | null {
  const elements: Operand[] = [];
  for (const operand of typed) {
    if (operand.type.kind !== 'ARRAY') return null;
    elements.push({ type: operand.type.element, form: operand.form });
  }
  const lead = typed.indexOf(dominant);
  const ordered = lead > 0 ? [...elements.slice(lead), ...elements.slice(0, lead)] : elements;
  const element = supertype(ordered);
  if (element === null) return null;
  const type: SqlType = { kind: 'ARRAY', element };
  return typed.every((operand) => coerces(operand, type)) ? type : null;
}
