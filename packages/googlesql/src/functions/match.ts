/** Overload resolution: which signature of a function a call means, and what its arguments are converted to. */
import { addMatch, closer, coerces, noDistance, supertype, untyped, type Distance, type Operand } from '../coercion';
import { equivalentTypes } from '../type-names';
import type { SqlType } from '../types';
import type { SqlFunction } from './catalogue';
import { signaturesOf, type Parameter, type Pattern, type Signature } from './signature';

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
  let best: { match: Match; named: ReadonlyMap<string, SqlType>; distance: Distance } | null = null;
  for (const signature of signaturesOf(fn)) {
    const namedTypes = matchNamed(signature, named);
    if (namedTypes === null) continue;
    const found = matchSignature(fn, signature, slots);
    if (found === null || (best !== null && !closer(found.distance, best.distance))) continue;
    const { match, distance } = found;
    best = { match, named: namedTypes, distance };
    // None is closer than one that takes the arguments as they are.
    if (!closer(EXACT, distance)) break;
  }
  if (best === null) return null;
  const { types, parameters, result } = best.match;
  return { types, parameters, result, named: best.named };
}

const EXACT = noDistance();
const NONE: ReadonlyMap<string, SqlType> = new Map();

function matchNamed(signature: Signature, named: ReadonlyMap<string, Operand>): ReadonlyMap<string, SqlType> | null {
  if (named.size === 0) return NONE;
  const types = new Map<string, SqlType>();
  for (const [name, operand] of named) {
    const parameter = signature.parameters.find((p) => p.namedOnly && p.name === name.toLowerCase());
    if (parameter?.pattern.kind !== 'fixed' || !coerces(operand, parameter.pattern.type)) return null;
    types.set(name, parameter.pattern.type);
  }
  return types;
}

/** One parameter per argument, or null where the number of arguments does not fit. */
export function spread(signature: Signature, count: number): readonly Parameter[] | null {
  if (count > FEW_ARGUMENTS) return computeSpread(signature, count);
  let known = spreads.get(signature);
  if (known === undefined) spreads.set(signature, (known = []));
  return (known[count] ??= { parameters: computeSpread(signature, count) }).parameters;
}

/** Calls of up to so many arguments are remembered. */
const FEW_ARGUMENTS = 8;
const spreads = new WeakMap<Signature, { parameters: readonly Parameter[] | null }[]>();

function computeSpread({ positional }: Signature, count: number): readonly Parameter[] | null {
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
  if (!parameters.every((parameter, i) => fits(fn, parameter, slots[i] ?? 'absent', templates))) return null;
  const bound = templates.bind();
  if (bound === null) return null;
  const types = parameters.map((parameter) => concrete(parameter.pattern, bound));
  const result = resultType(signature.result, bound, types);
  if (result === null) return null;
  const distance = noDistance();
  types.forEach((type, i) => {
    const slot = slots[i];
    if (type !== null && slot !== undefined && typeof slot !== 'string') addMatch(slot, type, distance);
  });
  return { match: { types, parameters, result }, distance };
}

const DECIMALS: ReadonlySet<SqlType['kind']> = new Set<SqlType['kind']>(['NUMERIC', 'BIGNUMERIC']);

/** A NUMERIC overload is for calls with a NUMERIC in them: integers alone become FLOAT64. */
function decimalsGiven(fn: SqlFunction, parameters: readonly Parameter[], slots: readonly Slot[]): boolean {
  if (fn.signatures.length === 1) return true;
  if (fn.name === 'PERCENTILE_CONT') {
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
        (pattern.type.kind === 'STRING' && fn.textual === true && TEXT_FROM.has(slot.type.kind))
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

interface Template {
  readonly name: string;
  /** Arguments of the type, and elements of arrays of it. */
  readonly operands: Operand[];
  readonly arrays: Operand[];
}

/** What the templates of one signature are bound to. */
class Templates {
  /** Few signatures have one, and none more than three. */
  readonly #all: Template[] = [];

  add(name: string, operand: Operand): void {
    this.#named(name).operands.push(operand);
  }

  addArray(name: string, operand: Operand): boolean {
    const template = this.#named(name);
    if (untyped(operand)) return true;
    if (operand.type.kind !== 'ARRAY') return false;
    template.operands.push({ type: operand.type.element, form: operand.form });
    template.arrays.push(operand);
    return true;
  }

  /** The type of each template, or null where its arguments have no common type. */
  bind(): ReadonlyMap<string, SqlType> | null {
    if (this.#all.length === 0) return NONE;
    const bound = new Map<string, SqlType>();
    for (const { name, operands, arrays } of this.#all) {
      const type = supertype(operands);
      if (type === null) return null;
      for (const array of arrays) {
        if (type.kind === 'ARRAY' || !coerces(array, { kind: 'ARRAY', element: type })) return null;
      }
      bound.set(name, type);
    }
    return bound;
  }

  #named(name: string): Template {
    let template = this.#all.find((one) => one.name === name);
    if (template === undefined) this.#all.push((template = { name, operands: [], arrays: [] }));
    return template;
  }
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
