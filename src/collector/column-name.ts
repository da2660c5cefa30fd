const PLAIN = /^[A-Za-z]\w{0,127}$/;
/** Beginnings that BigQuery has for itself. */
const RESERVED =
  /^(?:_TABLE_|_FILE_|_PARTITION|_ROW_TIMESTAMP|__ROOT__|_COLIDENTIFIER|_CHANGE_(?:SEQUENCE_NUMBER|TYPE|TIMESTAMP))/;
const LONGEST = 128;

/**
 * The column of a field, with Logflare's rules, so that queries written for its tables find it: other characters than letters,
 * digits and `_` become `_`, and each kind of change puts one more in front.
 */
export function columnName(field: string): string {
  if (PLAIN.test(field)) return field;
  const reserved = RESERVED.test(field);
  const dash = field.includes('-');
  const changes = [reserved, dash, !reserved && !dash && /^\d/.test(field), /[^\w-]/u.test(field)];
  const name = '_'.repeat(changes.filter(Boolean).length) + field.replace(/\W/gu, '_');
  return name.length > LONGEST ? `_${name.slice(0, LONGEST)}` : name;
}
