const MIB = 1024 * 1024;
const UNITS: Readonly<Record<string, number>> = { MB: 1e6, GB: 1e9, MiB: MIB, GiB: 1024 * MIB };

/** Bytes of a size as DuckDB writes it: `1GB`, `512MiB`. */
export function bytesOf(size: string): number {
  const [, digits = '', unit = ''] = /^(\d+) ?([MG]i?B)$/.exec(size) ?? [];
  return Number(digits) * (UNITS[unit] ?? NaN);
}

/** Bytes as DuckDB reads them. */
export function sizeOf(bytes: number): string {
  return `${String(Math.floor(bytes / MIB))}MiB`;
}
