/** A request of a pinned key, and what is known of its answer. */
export interface TenantRequest {
  /** For the counts of a run. */
  readonly kind: 'sql' | 'lql' | 'stored' | 'other';
  /** Whose key. */
  readonly key: 'project' | 'tenant';
  readonly method: 'GET' | 'HEAD' | 'POST';
  readonly path: string;
  /** Sent in the URL, with POST in a JSON body. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the query fixes the order of the rows. */
  readonly ordered: boolean;
  /** Sent once more: as it is, or with the entity tag of the first answer. */
  readonly again: 'no' | 'same' | 'conditional';
  readonly places: readonly string[];
  readonly kinds: readonly string[];
}
