import { isReserved } from '../googlesql/keywords';

/** A name as a query writes it: in backticks where it is no plain word. */
export function quoted(name: string): string {
  if (/^[A-Za-z_]\w*$/.test(name) && !isReserved(name.toUpperCase())) return name;
  return `\`${name.replace(/[\\`]/g, '\\$&')}\``;
}
