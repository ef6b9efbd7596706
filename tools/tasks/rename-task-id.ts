/** Names by which models learned to call a task's id. */

/**
 * Give an input's task id its present name.
 *
 * @param oldKeys Former names of `task_id`; the first that is there is taken, when there is no `task_id`.
 * @returns A new object; anything that is no object as it came, for the schema to refuse.
 */
export function renameTaskId(input: unknown, oldKeys: readonly string[]): unknown {
  if (typeof input !== 'object' || input === null || Object.hasOwn(input, 'task_id')) return input;
  const oldKey = oldKeys.find((key) => Object.hasOwn(input, key));
  if (oldKey === undefined) return input;
  const { [oldKey]: taskId, ...rest } = input as Record<string, unknown>;
  return { task_id: taskId, ...rest };
}
