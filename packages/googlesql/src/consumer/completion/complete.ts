import { type Completions, type WrittenText } from './completion';
import { completeLql } from './lql';
import { completeSql } from './sql';

/**
 * What may be written at the cursor. It follows from the text and the tables alone, never from rows: names that are there in
 * that place, functions and keywords of GoogleSQL, fields and operators of LQL.
 */
export function complete(written: WrittenText): Completions {
  return written.language === 'sql' ? completeSql(written) : completeLql(written);
}
