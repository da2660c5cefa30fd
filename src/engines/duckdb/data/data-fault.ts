/** Data that the service cannot start with. The message names the file or table and what would be right. */
export class DataFault extends Error {
  override readonly name = 'DataFault';
}
