/** How the memory of the embedded engine is shared: whole bytes of each kind, whatever the limit is. */
import { memoryShares } from '../src/process/memory-shares';

it.each(['64MB', '100MB', '256MB', '257MB', '512MiB', '999MB', '1GB', '2GB', '7GB', '64GiB'])('%s', (limit) => {
  for (const follows of [false, true]) {
    const { convertedBytes, tailBytes, resident } = memoryShares(limit, 2, follows);
    // A file is read up to so many bytes: Node takes no fraction of one.
    for (const bytes of [convertedBytes, tailBytes, resident]) {
      expect(bytes).toBeGreaterThan(0);
      expect(Number.isInteger(bytes)).toBe(true);
    }
  }
});
