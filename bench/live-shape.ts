/** What lists of one cost that are stored as records, against hand-written SQL over the nested lists; and whole records. */
import { dialect } from './dialect';
import { endpoints } from './endpoints';
import { wholeRecords } from './whole-records';

export async function liveShape(print: (line: string) => void): Promise<void> {
  await wholeRecords(print);
  await endpoints(print);
  await dialect(print);
}
