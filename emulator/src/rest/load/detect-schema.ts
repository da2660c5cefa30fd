import { type TableField } from '../../warehouse/schema';

const DATE = /^\d{4}-\d{1,2}-\d{1,2}$/;
const TIMESTAMP = /^\d{4}-\d{1,2}-\d{1,2}[ T]\d{1,2}:\d{2}(:\d{2}(\.\d{1,6})?)?\s?(Z|UTC|[+-]\d{1,2}(:\d{2})?)?$/;
const INTEGER = /^-?\d{1,19}$/;
const FLOAT = /^-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/** The columns of rows without a schema, as BigQuery guesses them: the narrowest type that takes every value. */
export function detectSchema(rows: readonly Readonly<Record<string, unknown>>[]): TableField[] {
  const values = new Map<string, unknown[]>();
  for (const row of rows) {
    for (const [name, value] of Object.entries(row)) values.set(name, [...(values.get(name) ?? []), value]);
  }
  return [...values].map(([name, found]) => fieldOf(name, found));
}

function fieldOf(name: string, found: readonly unknown[]): TableField {
  const repeated = found.some(Array.isArray);
  const items = found.flat().filter((value) => value !== null && value !== undefined && value !== '');
  const mode = repeated ? 'REPEATED' : 'NULLABLE';
  if (items.length > 0 && items.every((item) => typeof item === 'object'))
    return { name, type: 'RECORD', mode, fields: detectSchema(items as Record<string, unknown>[]) };
  return { name, type: typeOf(items), mode };
}

function typeOf(items: readonly unknown[]): string {
  if (items.length === 0) return 'STRING';
  const texts = items.map(String);
  const all = (pattern: RegExp): boolean => texts.every((text) => pattern.test(text));
  if (all(/^(true|false)$/i)) return 'BOOLEAN';
  if (all(INTEGER)) return 'INTEGER';
  if (all(FLOAT)) return 'FLOAT';
  if (all(DATE)) return 'DATE';
  return all(TIMESTAMP) ? 'TIMESTAMP' : 'STRING';
}
