/** Milliseconds of CPU time that work takes in this process: what else the machine does makes it no longer. */
export function cpuTime(work: () => unknown): number {
  const begun = process.cpuUsage();
  work();
  return since(begun);
}

/** The same of work that waits. */
export async function cpuTimeOf(work: () => Promise<unknown>): Promise<number> {
  const begun = process.cpuUsage();
  await work();
  return since(begun);
}

function since(begun: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1000;
}
