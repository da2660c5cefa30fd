import { QueryError } from '../errors';
import { surveyQuery } from '../googlesql/parser';
import type { Completion } from './completion';

/** Reserved words, alone and as they go together: any other word might be a name. */
const PHRASES = [
  ...[
    'SELECT',
    'FROM',
    'WHERE',
    'GROUP BY',
    'HAVING',
    'ORDER BY',
    'LIMIT',
    'QUALIFY',
    'WINDOW',
    'WITH',
    'DISTINCT',
    'AS',
  ],
  ...['JOIN', 'INNER JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN', 'CROSS JOIN', 'UNNEST(', 'ON', 'USING ('],
  ...['UNION ALL', 'UNION DISTINCT', 'EXCEPT DISTINCT', 'INTERSECT DISTINCT', 'AND', 'OR', 'NOT', 'IN', 'IN UNNEST('],
  ...[
    'IS NULL',
    'IS NOT NULL',
    'LIKE',
    'BETWEEN',
    'CASE',
    'WHEN',
    'THEN',
    'ELSE',
    'END',
    'EXISTS (',
    'CAST(',
    'INTERVAL',
  ],
  ...['TRUE', 'FALSE', 'NULL', 'ASC', 'DESC', 'OVER (', 'PARTITION BY', 'ROLLUP (', 'CUBE ('],
];

/** UTF-16 units of a text that is read once for each phrase. */
const LONGEST_TEXT = 8_000;

/** The keywords that may follow a text: those behind which a reading of it goes on, or ends for want of more. */
export function viableKeywords(before: string): readonly Completion[] {
  if (before.length > LONGEST_TEXT) return [];
  return PHRASES.filter((phrase) => isViable(before, phrase)).map((phrase) => ({
    label: phrase.replace(/ ?\($/, ''),
    kind: 'keyword',
    insert: phrase.endsWith('(') ? phrase : `${phrase} `,
  }));
}

function isViable(before: string, phrase: string): boolean {
  const text = before + phrase;
  try {
    surveyQuery(text);
    return true;
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    return error.fault === 'invalidQuery' && error.span !== null && error.span.start >= text.length;
  }
}
