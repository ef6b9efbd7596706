/**
 * The frames that a slow reader may miss.
 */
import type { NewFrame } from './frames.ts';

const PROGRESS_TYPES: readonly string[] = [
  'progress',
  'task_output',
  'input_partial',
] as const satisfies readonly NewFrame['type'][];

/** Whether frames of this type may be thinned out; `progress: false` leaves them out. */
export function isProgress(type: string): boolean {
  return PROGRESS_TYPES.includes(type);
}
