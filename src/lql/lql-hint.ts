import type { ErrorDetails } from '../errors';

/** A hint about SQL as the sender of an LQL text can use it: LQL reaches into records by their path, without joins. */
export function inLql<T extends Pick<ErrorDetails, 'hint'>>(details: T): T {
  const [, name, record] = /^(\S+) is in (\S+): /.exec(details.hint ?? '') ?? [];
  return name === undefined || record === undefined ? details : { ...details, hint: `Did you mean ${record}.${name}?` };
}
