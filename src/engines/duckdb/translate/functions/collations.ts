/** COLLATE, of which `withCollations` leaves only the keys that texts are compared by. */
import { type FunctionTable, sqlOf } from '../expressions/call';

/** Unicode's root order without its third level, which is that of case. */
const LOCALE = "'und-u-ks-level2'";

export const COLLATION_FUNCTIONS: FunctionTable = {
  COLLATE: (call) => `icu_sort_key(${sqlOf(call, 0)}, ${LOCALE})`,
};
