/** Former names of a task's id, which models still use. */

/**
 * Rename a task id to its current key.
 *
 * @param oldKeys Former names of `task_id`; the first one present is used if there is no `task_id`.
 * @returns A new object; any other value unchanged, for the schema to reject.
 */
export function renameTaskId(input: unknown, oldKeys: readonly string[]): unknown {
  if (typeof input !== 'object' || input === null || Object.hasOwn(input, 'task_id')) return input;
  const oldKey = oldKeys.find((key) => Object.hasOwn(input, key));
  if (oldKey === undefined) return input;
  const { [oldKey]: taskId, ...rest } = input as Record<string, unknown>;
  return { task_id: taskId, ...rest };
}
