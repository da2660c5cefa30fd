/**
 * Words that name nothing unless back-quoted: GoogleSQL's reserved keywords (lexical reference, "Reserved keywords"), and
 * QUALIFY, which BigQuery reserves. All other words of the grammar are ordinary identifiers wherever one can stand.
 */
const RESERVED = new Set(
  `ALL AND ANY ARRAY AS ASC ASSERT_ROWS_MODIFIED AT BETWEEN BY CASE CAST COLLATE CONTAINS CREATE CROSS CUBE CURRENT
   DEFAULT DEFINE DESC DISTINCT ELSE END ENUM ESCAPE EXCEPT EXCLUDE EXISTS EXTRACT FALSE FETCH FOLLOWING FOR FROM FULL
   GROUP GROUPING GROUPS HASH HAVING IF IGNORE IN INNER INTERSECT INTERVAL INTO IS JOIN LATERAL LEFT LIKE LIMIT LOOKUP
   MERGE NATURAL NEW NO NOT NULL NULLS OF ON OR ORDER OUTER OVER PARTITION PRECEDING PROTO QUALIFY RANGE RECURSIVE
   RESPECT RIGHT ROLLUP ROWS SELECT SET SOME STRUCT TABLESAMPLE THEN TO TREAT TRUE UNBOUNDED UNION UNNEST USING WHEN
   WHERE WINDOW WITH WITHIN`.split(/\s+/),
);

/** `word` in upper case. */
export function isReserved(word: string): boolean {
  return RESERVED.has(word);
}

/** Reserved words that are function names where a parenthesis follows. */
export const FUNCTION_KEYWORDS: ReadonlySet<string> = new Set(['IF', 'GROUPING', 'LEFT', 'RIGHT', 'COLLATE', 'RANGE']);
