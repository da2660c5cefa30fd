/** Date parts as they are written: `DAY`, `WEEK(MONDAY)`. */
export function partSql(part: string): string {
  return part.replace(/^WEEK_(\w+)$/, 'WEEK($1)');
}
