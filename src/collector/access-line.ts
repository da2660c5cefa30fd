/** What a line of an access log in the combined format says of a request, as gateways write it (nginx, Kong, Envoy). */
export interface AccessLine {
  readonly client: string;
  readonly method: string;
  /** Path and query, as requested. */
  readonly target: string;
  readonly protocol: string;
  readonly status: number;
  readonly referer: string | null;
  readonly agent: string | null;
}

const COMBINED = /^(\S+) \S+ \S+ \[[^\]]*\] "([A-Z]+) (\S+) ([^"\s]+)" (\d{3}) (?:\d+|-)(?: "([^"]*)")?(?: "([^"]*)")?/;

/** Characters of a line that are looked at. */
const LONGEST = 16_384;

/** null: the text is another one. */
export function readAccessLine(text: string): AccessLine | null {
  const match = COMBINED.exec(text.slice(0, LONGEST));
  if (match === null) return null;
  const [, client = '', method = '', target = '', protocol = '', status, referer, agent] = match;
  return { client, method, target, protocol, status: Number(status), referer: given(referer), agent: given(agent) };
}

/** A minus is how these logs write that there is none. */
function given(text: string | undefined): string | null {
  return text === undefined || text === '' || text === '-' ? null : text;
}
