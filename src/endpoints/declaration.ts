import { isReservedParameter } from '../keys/key';
import { BOUND_TYPES, PARAMETER_TYPES, type ParameterDeclaration } from './endpoint';
import type { LineFault, Place, WrittenDeclaration } from './settings';
import { readList, readValue } from './values';

/** Names of features that an endpoint switches off by declaring a parameter of the name. */
export const SOFT_RESERVED = [
  'export',
  'page_size',
  'page_token',
  'timestamps',
  'estimate',
  'position',
  'history',
] as const;

/** What GoogleSQL can name with `@`, so that the name needs no backticks. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/**
 * Turns the declarations of one file into what the service reads requests by, and finds what is wrong with them.
 * The result is of use only when there is no fault.
 */
export function readDeclarations(
  written: Readonly<Record<string, WrittenDeclaration>>,
  placeOf: (path: readonly PropertyKey[]) => Place,
): { declarations: ParameterDeclaration[]; faults: LineFault[] } {
  const faults: LineFault[] = [];
  const seen = new Map<string, string>();
  const declarations = Object.entries(written).map(([name, setting]) => {
    const fault = (reason: string, key?: string) => {
      const path = key === undefined ? ['params', name] : ['params', name, key];
      faults.push({ ...placeOf(path), reason: `parameter ${JSON.stringify(name)}: ${reason}` });
    };
    const folded = name.toLowerCase();
    if (!NAME.test(name)) fault('a name is of letters, digits and _ and begins with a letter or _');
    if (isReservedParameter(name)) fault(`${folded} is reserved on every endpoint`);
    const twin = seen.get(folded);
    if (twin !== undefined) fault(`differs from ${JSON.stringify(twin)} only in case, and @names ignore case`);
    seen.set(folded, name);
    return readDeclaration(name, setting, fault);
  });
  return { declarations, faults };
}

function readDeclaration(
  name: string,
  written: WrittenDeclaration,
  fault: (reason: string, key?: string) => void,
): ParameterDeclaration {
  const { type, list } = readType(written.type);
  const declaration: ParameterDeclaration = {
    name,
    type,
    list,
    required: written.required ?? false,
    description: written.description ?? '',
    default: readDefault(list, written.default),
    defaultLookback: written.default_lookback ?? null,
    values: written.values ?? null,
    minimum: written.min === null || written.min === undefined ? null : Number(written.min),
    maximum: written.max === null || written.max === undefined ? null : Number(written.max),
  };
  checkValues(declaration, fault);
  checkBounds(declaration, written, fault);
  checkLookback(declaration, fault);
  if (declaration.default === null) {
    // A text that is absent is bound as ''; NULL is never bound.
    if (!declaration.required && !list && BOUND_TYPES[type] !== 'STRING') {
      fault(`an optional ${type} has no empty form: make it required or give it a default`);
    }
    return declaration;
  }
  if (declaration.required) fault('a required parameter never takes its default: remove one of the two', 'default');
  if (!list && typeof declaration.default !== 'string') fault(`the default of a ${type} is no list`, 'default');
  const reading = readList(declaration, [declaration.default].flat());
  if (!reading.ok) fault(`the default must be ${reading.expected}`, 'default');
  return declaration;
}

function readType(written: WrittenDeclaration['type']): Pick<ParameterDeclaration, 'type' | 'list'> {
  const type = PARAMETER_TYPES.find((one) => written === one || written === `${one}[]`);
  if (type === undefined) throw new Error('A type that the settings do not take.');
  return { type, list: written !== type };
}

/** Empty is absent, in a default as in a request. */
function readDefault(list: boolean, written: WrittenDeclaration['default']): ParameterDeclaration['default'] {
  const values = [written ?? []].flat().filter((value) => value !== '');
  if (values.length === 0) return null;
  return list ? values : (written ?? null);
}

function checkValues(declaration: ParameterDeclaration, fault: (reason: string, key?: string) => void): void {
  const { type, values } = declaration;
  if (type !== 'enum') {
    if (values !== null) fault('only an enum has values', 'values');
    return;
  }
  if (values === null || values.length === 0) fault('an enum needs values', values === null ? undefined : 'values');
  if (values === null) return;
  if (values.includes('')) fault('an enum cannot have an empty value: empty means absent', 'values');
  if (new Set(values).size < values.length) fault('a value is listed twice', 'values');
  for (const value of values) {
    const reading = readValue({ type: 'string', values: null, minimum: null, maximum: null }, value);
    if (!reading.ok) fault(`a value must be ${reading.expected}`, 'values');
  }
}

function checkLookback(
  { type, list, required, default: fixed, defaultLookback }: ParameterDeclaration,
  fault: (reason: string, key?: string) => void,
): void {
  if (defaultLookback === null) return;
  const key = 'default_lookback';
  if (type !== 'timestamp' || list) fault(`only a timestamp has a ${key}`, key);
  if (required) fault(`a required parameter never takes its ${key}: remove one of the two`, key);
  if (fixed !== null) fault(`default and ${key} exclude each other: remove one of the two`, key);
}

function checkBounds(
  declaration: ParameterDeclaration,
  written: WrittenDeclaration,
  fault: (reason: string, key?: string) => void,
): void {
  for (const key of ['min', 'max'] as const) {
    const bound = written[key];
    if (bound === null || bound === undefined) continue;
    if (declaration.type === 'integer') {
      if (typeof bound !== 'bigint' || !Number.isSafeInteger(Number(bound))) {
        fault(`${key} of an integer must be a whole number within 2^53`, key);
      }
    } else if (declaration.type === 'number') {
      if (!Number.isFinite(Number(bound))) fault(`${key} must be a finite number`, key);
    } else fault(`a ${declaration.type} has no bounds`, key);
  }
  const { minimum, maximum } = declaration;
  if (minimum !== null && maximum !== null && minimum > maximum) fault('min is greater than max', 'min');
}
