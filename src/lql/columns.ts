import { LqlError } from './lql-error';
import type { Rules, Select } from './rules';

/** The name of a selected field in the result: alias, else the path with underscores for dots. */
export function columnName(select: Select): string {
  return select.alias ?? select.path.replaceAll('.', '_');
}

/** What the query returns beside a chart; null: every column of the table (no `s:`, or `s:*` among them). */
export function selectedFields(rules: Rules): readonly Select[] | null {
  return rules.select.length === 0 || rules.select.some((select) => select.wildcard) ? null : rules.select;
}

/** Result columns are distinguished without case (docs/http.md). A chart ignores what is selected. */
export function checkColumns(rules: Rules): void {
  if (rules.chart !== null) return;
  const taken = new Set<string>();
  for (const select of selectedFields(rules) ?? []) {
    const name = columnName(select);
    if (taken.has(name.toLowerCase())) {
      throw new LqlError('duplicate_column', `two selected fields are named ${name}`, select.span, {
        hint: 'Give one of them another name with s:path@name.',
      });
    }
    taken.add(name.toLowerCase());
  }
}
