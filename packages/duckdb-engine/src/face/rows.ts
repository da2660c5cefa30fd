/** Lines of a data folder: JSON with exact numbers, and values that fit a schema. */
export { LONGEST_LINE } from '../data/file-scan';
export { exactNumber, longNumber, parseLine, printLine } from '../data/json-line';
export { MOST_ROW_VALUES, valuesOfRow } from '../data/row-values';
export { type DeclaredTables, describedTables } from '../data/schemas';
export { strictValue } from '../data/strict-row';
