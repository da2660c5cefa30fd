import type { Endpoint, ParameterDeclaration } from './endpoint';

/** The parameters of an endpoint as the holder of a key with `pins` sees them. */
export function describeParameters(
  { parameters }: Pick<Endpoint, 'parameters'>,
  pins: ReadonlyMap<string, unknown>,
): readonly object[] {
  return parameters.map((declared) => (pins.has(declared.name) ? describePinned(declared) : describe(declared)));
}

function describe(declared: ParameterDeclaration): object {
  const { name, required, description } = declared;
  return {
    name,
    type: typeName(declared),
    required,
    description,
    ...(declared.default === null ? {} : { default: declared.default }),
    ...(declared.defaultLookback === null ? {} : { defaultLookback: declared.defaultLookback }),
    ...(declared.values === null ? {} : { values: declared.values }),
    ...(declared.minimum === null ? {} : { minimum: declared.minimum }),
    ...(declared.maximum === null ? {} : { maximum: declared.maximum }),
  };
}

/**
 * A parameter that the key pins. As in `/openapi.json` (src/openapi/parameter-schema.ts) its values, bounds and default are
 * left out: the values that an enum allows may be names of other tenants.
 */
function describePinned(declared: ParameterDeclaration): object {
  const { name, description } = declared;
  return { name, type: typeName(declared), required: false, description, fixed: true };
}

/** The type as a declaration has it: `string`, `string[]`. */
export function typeName({ type, list }: Pick<ParameterDeclaration, 'type' | 'list'>): string {
  return list ? `${type}[]` : type;
}

/** What a start is that a request leaves out, in a sentence. @param written as the declaration has it: `7d` */
export function describeLookback(written: string): string {
  const count = Number(written.slice(0, -1));
  const unit = written.endsWith('d') ? 'day' : 'hour';
  return `Left out, it is ${String(count)} ${unit}${count === 1 ? '' : 's'} before the last full hour.`;
}
