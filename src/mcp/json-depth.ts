/**
 * How deep a value from outside is nested, found without recursion.
 */

/**
 * Whether `value` is nested deeper than `depth` levels; a bare string or number has level 0.
 *
 * Takes time in proportion to the value and stops at the first branch that is too deep.
 */
export function isDeeperThan(value: unknown, depth: number): boolean {
  let level: unknown[] = [value];
  for (let reached = 0; level.length > 0; reached++) {
    const containers = level.filter((item) => typeof item === 'object' && item !== null);
    if (containers.length > 0 && reached >= depth) return true;
    level = containers.flatMap((item) => Object.values(item as object));
  }
  return false;
}
