/** Fields of a table, in short. */
import { parseRestSchema, type RestField } from '../../googlesql/src/rest-schema';

/**
 * `id STRING!, tags STRING*, m RECORD*(n INT64)`: fields as `schema.json` has them; `!` is required, `*` repeated.
 *
 * @returns as `schema.json` has them
 */
export function restFieldsOf(text: string): readonly object[] {
  const tokens = text.match(/[\w`]+|[!*(),]/g) ?? [];
  let at = 0;
  const list = (): object[] => {
    const found: object[] = [];
    for (; at < tokens.length && tokens[at] !== ')'; at++) {
      if (tokens[at] === ',') continue;
      const [name, type] = [tokens[at]!, tokens[at + 1]!];
      const mode = { '!': 'REQUIRED', '*': 'REPEATED' }[tokens[at + 2] ?? ''];
      at += mode === undefined ? 1 : 2;
      const inner = tokens[at + 1] === '(';
      if (inner) at += 2;
      found.push({ name, type, ...(mode && { mode }), ...(inner && { fields: list() }) });
    }
    return found;
  };
  return list();
}

export const fieldsOf = (text: string): readonly RestField[] => parseRestSchema(restFieldsOf(text), text);

/** `schema.json` of tables, each with its fields in short. */
export const schemaOf = (tables: Readonly<Record<string, string>>): string =>
  JSON.stringify(
    Object.fromEntries(Object.entries(tables).map(([name, text]) => [name, { fields: restFieldsOf(text) }])),
  );
