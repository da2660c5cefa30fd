import type { Identifier, TypeName } from '../tree';
import type { Cursor } from './cursor';

/** INT64, STRING(10), ARRAY<STRUCT<a INT64, STRING>>, NUMERIC(10, 2) */
export function parseType(cursor: Cursor): TypeName {
  return cursor.nested(() => {
    const type = parseRawType(cursor);
    if (cursor.at('COLLATE')) {
      const { start } = cursor.next();
      if (cursor.token.kind !== 'string') cursor.fail('a collation name');
      cursor.next();
      cursor.refuse('COLLATE', cursor.spanFrom(start));
    }
    return type;
  });
}

function parseRawType(cursor: Cursor): TypeName {
  const { start } = cursor.token;
  if (cursor.at('ARRAY')) {
    cursor.next();
    return { kind: 'array', element: parseElementType(cursor), span: cursor.spanFrom(start) };
  }
  if (cursor.at('STRUCT')) {
    cursor.next();
    return { kind: 'struct', fields: parseStructFields(cursor), span: cursor.spanFrom(start) };
  }
  if (cursor.at('RANGE')) {
    cursor.next();
    return { kind: 'range', element: parseElementType(cursor), span: cursor.spanFrom(start) };
  }
  const name = parseTypePath(cursor);
  return { kind: 'simple', name, parameters: parseTypeParameters(cursor), span: cursor.spanFrom(start) };
}

/** After ARRAY: `<T>` */
export function parseElementType(cursor: Cursor): TypeName {
  cursor.expect('<');
  const type = parseType(cursor);
  cursor.closeAngle();
  return type;
}

/** After STRUCT: `<a INT64, STRING>`; `<>` is a struct without fields. */
export function parseStructFields(cursor: Cursor): { name: Identifier | null; type: TypeName }[] {
  if (cursor.accept('<>')) return [];
  cursor.expect('<');
  if (cursor.at('>') || cursor.at('>>')) {
    cursor.closeAngle();
    return [];
  }
  const fields = cursor.list((at) => ({
    name: at.atName() && startsType(at) ? at.name('a field name') : null,
    type: parseType(at),
  }));
  cursor.closeAngle();
  return fields;
}

/** The token after the current one begins a type, so that the current one is a field's name. */
function startsType(cursor: Cursor): boolean {
  const { symbol } = cursor.peek(1);
  return cursor.atName(1) || symbol === 'ARRAY' || symbol === 'STRUCT' || symbol === 'INTERVAL' || symbol === 'RANGE';
}

function parseTypePath(cursor: Cursor): string {
  if (cursor.at('INTERVAL')) return cursor.next().value;
  const parts = [cursor.name('a type').name];
  while (cursor.accept('.')) parts.push(cursor.name('a type').name);
  return parts.join('.');
}

function parseTypeParameters(cursor: Cursor): string[] {
  const parameters: string[] = [];
  if (!cursor.accept('(')) return parameters;
  do {
    const { kind, symbol } = cursor.token;
    const literal = kind === 'integer' || kind === 'float' || kind === 'string' || kind === 'bytes';
    if (!literal && symbol !== 'MAX' && symbol !== 'TRUE' && symbol !== 'FALSE') cursor.fail('a type parameter');
    parameters.push(cursor.next().value);
  } while (cursor.accept(','));
  cursor.expect(')');
  return parameters;
}
