/** Labels as BigQuery takes them: lower-case letters, digits, `_` and `-`, at most 63 characters, keys led by a letter. */

const LENGTH = 63;

/** A key name is hashed by whoever makes the labels; here values are only brought into form. */
export function sanitiseLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  const clean: Record<string, string> = {};
  for (const [key, value] of Object.entries(labels)) {
    const name = sanitise(key).replace(/^[^a-z]+/, '');
    if (name !== '') clean[name] = sanitise(value);
  }
  return clean;
}

function sanitise(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, '_')
    .slice(0, LENGTH);
}
