import { quoteName } from './operand';
import type { SqlText } from './sql';
import { LqlError } from './lql-error';
import type { Span } from './rules';

/** Most arrays that one query unfolds: far more than any question needs, and a bound on the SQL that comes of it. */
const MAX_ARRAYS = 200;

/** A path with its place in the LQL text. */
export interface PathUse {
  readonly path: string;
  readonly pathSpan: Span;
}

interface Join {
  readonly alias: string;
  readonly array: string;
  readonly inner: boolean;
  readonly span: Span;
}

/**
 * The chains of UNNEST joins behind dotted paths: every segment but the last is an array of records, and paths with a
 * common prefix share its element. Filters and charts must be referred to before selections, so that a prefix that
 * only a selection uses is joined LEFT and loses no rows.
 */
export class Joins {
  private readonly joins = new Map<string, Join>();

  /** `root` is the alias of the table itself. */
  constructor(private readonly root: string) {}

  /** SQL for the field at the end of `path`. */
  field({ path, pathSpan }: PathUse, use: 'filter' | 'select'): string {
    const segments = path.split('.');
    const leaf = segments.pop() ?? path;
    let owner = this.root;
    let prefix = '';
    for (const segment of segments) {
      // Columns ignore case in BigQuery, so two spellings are one array.
      prefix += `${segment.toLowerCase()}.`;
      owner = (this.joins.get(prefix) ?? this.join(prefix, `${owner}.${quoteName(segment)}`, use, pathSpan)).alias;
    }
    return `${owner}.${quoteName(leaf)}`;
  }

  private join(prefix: string, array: string, use: 'filter' | 'select', span: Span): Join {
    if (this.joins.size === MAX_ARRAYS) {
      throw new LqlError('too_many_arrays', `the paths go through more than ${MAX_ARRAYS} arrays`, span);
    }
    const join = { alias: `u${this.joins.size + 1}`, array, inner: use === 'filter', span };
    this.joins.set(prefix, join);
    return join;
  }

  write(sql: SqlText): void {
    for (const { alias, array, inner, span } of this.joins.values()) {
      sql.add(` ${inner ? 'INNER' : 'LEFT'} JOIN UNNEST(`, span).add(`${array}) AS ${alias} ON TRUE`, span);
    }
  }
}
