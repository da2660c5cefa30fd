const MIB = 1024n * 1024n;
/** MiB that are billed of each table that is read, at least. */
const LEAST = 10n;

/** What is billed on demand where so many bytes are read: rounded up to the MiB, 10 MiB of each table at least; reading nothing is free. */
export function billedBytes(processed: bigint, tables: number): bigint {
  if (processed === 0n) return 0n;
  const [read, least] = [(processed + MIB - 1n) / MIB, LEAST * BigInt(Math.max(1, tables))];
  return (read > least ? read : least) * MIB;
}
