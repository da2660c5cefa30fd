/** A request of a pinned key, and what is known of its answer. */
export interface TenantRequest {
  /** For the counts of a run. */
  readonly kind: 'sql' | 'lql' | 'stored' | 'tail' | 'other';
  /** Whose key. */
  readonly key: 'project' | 'tenant';
  readonly method: 'GET' | 'HEAD' | 'POST';
  readonly path: string;
  /** Tool of the Model Context Protocol that sends it to the endpoint of `path`; null: it is sent as it is. */
  readonly tool: 'run_endpoint' | 'query_logs' | 'analyze' | null;
  /** Sent in the URL, with POST in a JSON body. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the query fixes the order of the rows. */
  readonly ordered: boolean;
  /** Sent once more: as it is, with the entity tag of the first answer, or for the pages behind the first. */
  readonly again: 'no' | 'same' | 'conditional' | 'pages';
  readonly places: readonly string[];
  readonly kinds: readonly string[];
}
