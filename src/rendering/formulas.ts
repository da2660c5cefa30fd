/** Characters by which a spreadsheet takes a cell for a formula (OWASP, CSV Injection): `=`, `+`, `-`, `@`, tab and CR. */
const STARTS = new Set([0x3d, 0x2b, 0x2d, 0x40, 0x09, 0x0d]);

/** A number with its sign, as FLOAT64, NUMERIC and BIGNUMERIC are written; it computes nothing. */
const NUMBER = /^[+-](?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$|^-Infinity$/;

/** The text of a CSV cell that no spreadsheet computes: with an apostrophe before what would be a formula. */
export function withoutFormula(text: string): string {
  return STARTS.has(text.charCodeAt(0)) && !NUMBER.test(text) ? `'${text}` : text;
}
