/** Time that other work on the machine does not lengthen. */

/** Processor time of this process while `work` runs, in milliseconds. */
export function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
