/** Overload resolution: which signature of a function a call means, and what its arguments are converted to. */
import { addMatch, closer, coerces, noDistance, supertype, untyped, type Distance, type Operand } from '../coercion';
import { equivalentTypes } from '../type-names';
import type { SqlType } from '../types';
import { TEXT_TAKING } from './additions';
import type { SqlFunction } from './catalogue';
import { signatureOf, type Parameter, type Pattern, type Signature } from './signature';

/** An argument: an operand, or a keyword (a date part, a mode), or nothing where a named one leaves a gap. */
export type Slot = Operand | 'part' | 'mode' | 'absent';

export interface Match {
  /** By argument; null: taken as it is. */
  readonly types: readonly (SqlType | null)[];
  readonly parameters: readonly Parameter[];
  readonly result: SqlType;
}

const TEXT_FROM: ReadonlySet<SqlType['kind']> = new Set<SqlType['kind']>([
  'BOOL',
  'INT64',
  'FLOAT64',
  'NUMERIC',
  'BIGNUMERIC',
  'TIMESTAMP',
  'DATE',
  'TIME',
  'DATETIME',
  'INTERVAL',
]);

/** The closest signature, the first of equals; null where none fits. `named` are arguments given by name only. */
export function matchFunction(
  fn: SqlFunction,
  slots: readonly Slot[],
  named: ReadonlyMap<string, Operand>,
): (Match & { readonly named: ReadonlyMap<string, SqlType> }) | null {
  let best: { match: Match; named: Map<string, SqlType>; distance: Distance } | null = null;
  for (const text of fn.signatures) {
    const signature = signatureOf(text);
    const namedTypes = matchNamed(signature, named);
    if (namedTypes === null) continue;
    const found = matchSignature(fn, signature, slots);
    if (found !== null && (best === null || closer(found.distance, best.distance)))
      best = { ...found, named: namedTypes };
  }
  return best === null ? null : { ...best.match, named: best.named };
}

function matchNamed(signature: Signature, named: ReadonlyMap<string, Operand>): Map<string, SqlType> | null {
  const types = new Map<string, SqlType>();
  for (const [name, operand] of named) {
    const parameter = signature.parameters.find((p) => p.namedOnly && p.name === name.toLowerCase());
    if (parameter?.pattern.kind !== 'fixed' || !coerces(operand, parameter.pattern.type)) return null;
    types.set(name, parameter.pattern.type);
  }
  return types;
}

/** One parameter per argument, or null where the number of arguments does not fit. */
export function spread(signature: Signature, count: number): Parameter[] | null {
  const positional = signature.parameters.filter((parameter) => !parameter.namedOnly);
  const required = positional.filter((p) => p.cardinality === 'required').length;
  const repeated = positional.filter((p) => p.cardinality === 'repeated');
  const optional = positional.filter((p) => p.cardinality === 'optional').length;
  let rounds = 0;
  if (repeated.length > 0 && count > required + optional)
    rounds = Math.ceil((count - required - optional) / repeated.length);
  let optionals = count - required - rounds * repeated.length;
  if (optionals < 0 || optionals > optional) return null;
  const list: Parameter[] = [];
  for (const parameter of positional) {
    if (parameter.cardinality === 'required') list.push(parameter);
    else if (parameter.cardinality === 'optional') {
      if (optionals-- > 0) list.push(parameter);
    } else if (parameter === repeated[0]) for (let i = 0; i < rounds; i++) list.push(...repeated);
  }
  return list;
}

function matchSignature(
  fn: SqlFunction,
  signature: Signature,
  slots: readonly Slot[],
): { match: Match; distance: Distance } | null {
  const parameters = spread(signature, slots.length);
  if (parameters === null || !decimalsGiven(fn, parameters, slots)) return null;
  const templates = new Templates();
  for (const [i, parameter] of parameters.entries()) {
    const slot = slots[i];
    if (slot === undefined || !fits(fn, parameter, slot, templates)) return null;
  }
  const bound = templates.bind();
  if (bound === null) return null;
  const types = parameters.map((parameter) => concrete(parameter.pattern, bound));
  const result = resultType(signature.result, bound, types);
  if (result === null) return null;
  const distance = noDistance();
  for (const [i, type] of types.entries()) {
    const slot = slots[i];
    if (type !== null && slot !== undefined && typeof slot !== 'string') addMatch(slot, type, distance);
  }
  return { match: { types, parameters, result }, distance };
}

const DECIMALS: ReadonlySet<SqlType['kind']> = new Set<SqlType['kind']>(['NUMERIC', 'BIGNUMERIC']);

/** Whose NUMERIC overloads want every argument to be NUMERIC. */
const ALL_DECIMAL: ReadonlySet<string> = new Set(['PERCENTILE_CONT']);

/** A NUMERIC overload is for calls with a NUMERIC in them: integers alone become FLOAT64. */
function decimalsGiven(fn: SqlFunction, parameters: readonly Parameter[], slots: readonly Slot[]): boolean {
  if (fn.signatures.length === 1) return true;
  if (ALL_DECIMAL.has(fn.name)) {
    const decimal = parameters.some((p) => p.pattern.kind === 'fixed' && DECIMALS.has(p.pattern.type.kind));
    return !decimal || slots.every((slot) => typeof slot !== 'string' && DECIMALS.has(slot.type.kind));
  }
  return (['NUMERIC', 'BIGNUMERIC'] as const).every(
    (kind) =>
      !parameters.some((p) => p.pattern.kind === 'fixed' && p.pattern.type.kind === kind) ||
      slots.some((slot) => typeof slot !== 'string' && !untyped(slot) && slot.type.kind === kind),
  );
}

function fits(fn: SqlFunction, { pattern, cardinality }: Parameter, slot: Slot, templates: Templates): boolean {
  if (slot === 'absent') return cardinality === 'optional';
  if (slot === 'part') return pattern.kind === 'part';
  if (slot === 'mode') return pattern.kind === 'mode' || pattern.kind === 'rounding';
  switch (pattern.kind) {
    case 'any':
      return true;
    case 'part':
      return false;
    case 'mode':
    case 'rounding':
      if (pattern.kind === 'rounding' && slot.form === 'null') return true;
      return slot.form === 'literal' && slot.type.kind === 'STRING';
    case 'template':
      templates.add(pattern.name, slot);
      return true;
    case 'array_template':
      return templates.addArray(pattern.name, slot);
    case 'fixed':
      if (untyped(slot)) return slot.form === 'null' || pattern.type.kind === 'ARRAY';
      if (isTextAsInstant(fn, slot, pattern.type)) return false;
      return (
        equivalentTypes(slot.type, pattern.type) ||
        (fn.exact !== true && coerces(slot, pattern.type)) ||
        (pattern.type.kind === 'STRING' && TEXT_TAKING.has(fn.name) && TEXT_FROM.has(slot.type.kind))
      );
    case 'top_count':
    case 'top_sum':
      return false;
  }
}

/** DATETIME_ functions read a literal text as a DATETIME alone, though they take a TIMESTAMP. */
function isTextAsInstant(fn: SqlFunction, slot: Operand, type: SqlType): boolean {
  return fn.name.startsWith('DATETIME_') && type.kind === 'TIMESTAMP' && slot.type.kind === 'STRING';
}

/** What the templates of one signature are bound to. */
class Templates {
  readonly #elements = new Map<string, Operand[]>();
  readonly #arrays = new Map<string, Operand[]>();

  add(name: string, operand: Operand): void {
    push(this.#elements, name, operand);
  }

  addArray(name: string, operand: Operand): boolean {
    this.#elements.set(name, this.#elements.get(name) ?? []);
    if (untyped(operand)) return true;
    if (operand.type.kind !== 'ARRAY') return false;
    this.add(name, { type: operand.type.element, form: operand.form });
    push(this.#arrays, name, operand);
    return true;
  }

  /** The type of each template, or null where its arguments have no common type. */
  bind(): Map<string, SqlType> | null {
    const bound = new Map<string, SqlType>();
    for (const [name, operands] of this.#elements) {
      const type = supertype(operands);
      if (type === null) return null;
      for (const array of this.#arrays.get(name) ?? []) {
        if (type.kind === 'ARRAY' || !coerces(array, { kind: 'ARRAY', element: type })) return null;
      }
      bound.set(name, type);
    }
    return bound;
  }
}

function push(lists: Map<string, Operand[]>, name: string, operand: Operand): void {
  const list = lists.get(name);
  if (list === undefined) lists.set(name, [operand]);
  else list.push(operand);
}

function concrete(pattern: Pattern, bound: ReadonlyMap<string, SqlType>): SqlType | null {
  switch (pattern.kind) {
    case 'fixed':
      return pattern.type;
    case 'template':
      return bound.get(pattern.name) ?? null;
    case 'array_template': {
      const element = bound.get(pattern.name);
      return element === undefined ? null : { kind: 'ARRAY', element };
    }
    default:
      return null;
  }
}

function resultType(
  pattern: Pattern,
  bound: ReadonlyMap<string, SqlType>,
  types: readonly (SqlType | null)[],
): SqlType | null {
  if (pattern.kind !== 'top_count' && pattern.kind !== 'top_sum') {
    const type = concrete(pattern, bound);
    return type?.kind === 'ARRAY' && type.element.kind === 'ARRAY' ? null : type;
  }
  const value = types[0];
  const weight = pattern.kind === 'top_count' ? { kind: 'INT64' as const } : types[1];
  if (value === null || value === undefined || weight === null || weight === undefined) return null;
  const fields = [
    { name: 'value', type: value },
    { name: pattern.kind === 'top_count' ? 'count' : 'sum', type: weight },
  ];
  return { kind: 'ARRAY', element: { kind: 'STRUCT', fields } };
}
