import type { RestField } from '../../../googlesql/rest-schema';

const LEAVES = ['STRING', 'INT64', 'FLOAT64', 'BOOL', 'TIMESTAMP'] as const;
type Leaf = (typeof LEAVES)[number];

/**
 * A regular expression (RE2) that finds each line which DuckDB's JSON reader would take without complaint although a
 * value does not fit: it rounds 1.5 to an integer, reads `true` as 1 and any number as a boolean, and keeps an object as a
 * string's text. What the reader itself refuses is not looked for.
 *
 * It may find too much (a field's name is looked for at any depth, and inside strings), never too little: lines found
 * are read again, one by one, by `strict-row.ts`. null: only that strict reading is right for such a schema.
 */
export function lossyLines(fields: readonly RestField[]): string | null {
  const names = new Map<string, Set<string>>();
  if (!collect(fields, names, true)) return null;
  const clauses = [String.raw`^\s*[^{\s]`, String.raw`[\[,]\s*null\s*[,\]]`];
  for (const [kind, found] of names) {
    const key = `"(?:${[...found].map(quoted).join('|')})"\\s*:\\s*`;
    clauses.push(`${key}(?:${LOSSY[kind]!})`);
  }
  return clauses.join('|');
}

/** By leaf type, `[]` for a REPEATED one: what may follow the colon and be read as something else than it is. */
const LOSSY: Readonly<Record<string, string>> = {
  STRING: String.raw`[\[{]`,
  INT64: String.raw`-?[0-9]+[.eE]|[tf]|"-?[0-9]*[^"0-9]`,
  FLOAT64: String.raw`-?[a-mo-zA-Z]|n[^u]|"\s*[^-0-9]`,
  BOOL: String.raw`[-0-9"]`,
  TIMESTAMP: String.raw`"\s*[^0-9]`,
  'STRING[]': String.raw`\[(?:"(?:[^"\\]|\\.)*"|[^"\[\]{}])*[\[{]`,
  'INT64[]': String.raw`\[[-0-9,\s]*[^-0-9,\s\]]`,
  'FLOAT64[]': String.raw`\[[-+0-9.eE,\s]*[^-+0-9.eE,\s\]]`,
  'BOOL[]': String.raw`\[[a-z,\s]*[^a-z,\s\]]`,
  'TIMESTAMP[]': String.raw`\[(?:\s*"\s*[0-9][^"]*"\s*,?)*\s*[^]\s"]|\[(?:[^\]]*,)?\s*"\s*[^0-9]`,
};

function collect(fields: readonly RestField[], names: Map<string, Set<string>>, top: boolean): boolean {
  return fields.every((field) => {
    // A REQUIRED field inside a record, and types that take other forms in JSON than DuckDB's: always read with care.
    if (field.mode === 'REQUIRED' && !top) return false;
    if (field.type === 'RECORD') return collect(field.fields, names, false);
    if (!isLeaf(field.type)) return false;
    const kind = field.mode === 'REPEATED' ? `${field.type}[]` : field.type;
    names.set(kind, (names.get(kind) ?? new Set()).add(field.name));
    return true;
  });
}

function isLeaf(type: RestField['type']): type is Leaf {
  return LEAVES.some((leaf) => leaf === type);
}

/** The name as it stands in JSON, taken literally. */
function quoted(name: string): string {
  return JSON.stringify(name)
    .slice(1, -1)
    .replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}
