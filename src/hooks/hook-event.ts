/**
 * The moments at which hooks run, and what each of them is told.
 *
 * Names and fields are those of Claude Code's public hook contract, so that existing scripts fit.
 */

/** All events. The first four run within a call; the others are told and hold nothing up. */
export const HOOK_EVENTS = [
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PermissionRequest',
  'PermissionDenied',
  'SessionStart',
  'SessionEnd',
] as const;

/** One of the seven. */
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** What every hook is told, whatever the event adds. */
export interface HookPayload {
  readonly session_id: string;
  /** Absolute. */
  readonly cwd: string;
  readonly permission_mode: string;
  readonly hook_event_name: HookEvent;
  readonly [field: string]: unknown;
}
