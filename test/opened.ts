/** What the tests of a file or group share: opened before them, closed behind them. */
export function opened<T extends { close(): unknown }>(open: () => Promise<T>, timeout = 60_000): () => T {
  let one: T;
  beforeAll(async () => {
    one = await open();
  }, timeout);
  afterAll(() => one.close());
  return () => one;
}
