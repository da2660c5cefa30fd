/** Repeats an assertion until it holds. How long that may take is bounded generously: a busy machine is no failure. */
export async function eventually(assertion: () => Promise<void> | void, within = 60_000): Promise<void> {
  const end = performance.now() + within;
  for (;;) {
    try {
      await assertion();
      return;
    } catch (error) {
      if (performance.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
