/** One entity tag of a list, with the comma behind it (RFC 9110, 8.8.3). */
const TAG = /\s*(?:(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")\s*)?(?:,|$)/y;

/**
 * Whether `If-None-Match` names the tag, compared weakly (RFC 9110, 13.1.2): the client has this already.
 *
 * @param header undefined: absent; anything that is not a list of tags matches nothing
 */
export function clientHas(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  const opaque = etag.replace(/^W\//, '');
  TAG.lastIndex = 0;
  while (TAG.lastIndex < header.length) {
    const match = TAG.exec(header);
    if (match === null) return false;
    if (match[1] === opaque) return true;
  }
  return false;
}
