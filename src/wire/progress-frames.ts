/**
 * The frames that a slow reader may miss.
 */
import type { NewFrame } from './frames.ts';

const PROGRESS_TYPES: readonly string[] = [
  'progress',
  'task_output',
  'input_partial',
] as const satisfies readonly NewFrame['type'][];

/** True for types of frames that may be left out; `progress: false` leaves out all of them. */
export function isProgress(type: string): boolean {
  return PROGRESS_TYPES.includes(type);
}
