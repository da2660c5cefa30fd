import { FORMULA_STARTS } from '../engines/contract';

const STARTS: ReadonlySet<number> = new Set(FORMULA_STARTS);

/** A number with its sign, as FLOAT64, NUMERIC and BIGNUMERIC are written; it computes nothing. */
const NUMBER = /^[+-](?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$|^-Infinity$/;

/** The text of a CSV cell that no spreadsheet computes: with an apostrophe before what would be a formula. */
export function withoutFormula(text: string): string {
  return STARTS.has(text.charCodeAt(0)) && !NUMBER.test(text) ? `'${text}` : text;
}
