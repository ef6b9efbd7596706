/**
 * Events for which hooks run, and their payload.
 *
 * Names and fields follow Claude Code's public hook contract, so that existing scripts work.
 */

/** All events. The first four run within a call and can change its outcome; the others are only notified. */
export const HOOK_EVENTS = [
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PermissionRequest',
  'PermissionDenied',
  'SessionStart',
  'SessionEnd',
] as const;

/** Name of an event. */
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** Fields of every payload; each event adds its own. */
export interface HookPayload {
  readonly session_id: string;
  /** Absolute path. */
  readonly cwd: string;
  readonly permission_mode: string;
  readonly hook_event_name: HookEvent;
  readonly [field: string]: unknown;
}
