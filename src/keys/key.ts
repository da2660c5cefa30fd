/** What a key fixes: a text, or of a list parameter its texts. */
export type PinnedValue = string | readonly string[];

/** What an authenticated caller may do (docs/keys.md). The secret itself is never kept. */
export interface Key {
  readonly name: string;
  /** `*`: every endpoint. */
  readonly endpoints: '*' | readonly string[];
  /** Parameters whose value the key fixes, by declared name. */
  readonly pins: ReadonlyMap<string, PinnedValue>;
  /** Redaction is forced on. */
  readonly redact: boolean;
  /** May send sql and lql although redaction is forced. */
  readonly allowSql: boolean;
  /** May export results beyond max_rows. */
  readonly export: boolean;
  /** Requests per second; null: the configuration's default. */
  readonly rateLimit: number | null;
  /** Bytes billed per UTC day; null: no budget. */
  readonly dailyBytes: bigint | null;
  /** Milliseconds since the epoch; null: never. */
  readonly expires: number | null;
}
