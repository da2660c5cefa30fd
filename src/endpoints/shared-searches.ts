/** Searches of the explorer that the operators share: a JSON file, read when one asks for them. */

import { MOST_OF_QUERY, readBounded, systemCode } from '@logquay/duckdb-engine/files';
import { z } from 'zod';

const FORM = z.strictObject({
  searches: z
    .array(
      z.strictObject({
        name: z.string().min(1).max(80),
        /** The part of the explorer's address behind its path. */
        search: z.string().startsWith('#').max(20_000),
        description: z.string().max(500).optional(),
      }),
    )
    .max(500),
});

export type SharedSearch = z.infer<typeof FORM>['searches'][number];

export class SharedSearches {
  #last: readonly SharedSearch[] = [];

  /** @param onFault what is wrong with the file, of which the last good state is answered; null: nothing is */
  constructor(
    private readonly file: string,
    private readonly onFault: (fault: string | null) => void,
  ) {}

  async read(): Promise<readonly SharedSearch[]> {
    try {
      const text = (await readBounded(this.file, MOST_OF_QUERY)).toString();
      this.#last = FORM.parse(JSON.parse(text)).searches;
      this.onFault(null);
    } catch (error) {
      this.onFault(`The file of SEARCHES_FILE cannot be read (${faultOf(error)}): its last good state is shown.`);
    }
    return this.#last;
  }
}

function faultOf(error: unknown): string {
  if (!(error instanceof z.ZodError)) return systemCode(error) ?? 'it is no JSON';
  const [first] = error.issues;
  return first === undefined ? 'it has another form' : `${first.path.join('.')}: ${first.message}`;
}
