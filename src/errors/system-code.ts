/**
 * The operating system's code of a failed call (`ENOENT`, `EACCES`, ...); null for any other failure. By shape: such errors
 * come from other realms too, where `instanceof Error` does not know them.
 */
export function systemCode(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error) || !('syscall' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}
