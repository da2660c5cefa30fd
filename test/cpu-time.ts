/** Milliseconds of CPU time that work takes in this process: what else the machine does makes it no longer. */
export function cpuTime(work: () => unknown): number {
  const begun = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1000;
}
