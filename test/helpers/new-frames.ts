/** Frames for tests of the log: the first of a session, and as many others as wanted. */
import type { NewFrame } from '../../src/wire/frames.ts';

/** The first frame of a session. */
export function openedFrame(sessionId: string, principal = 'local'): NewFrame {
  const created_at = new Date().toISOString();
  return {
    type: 'opened',
    session_id: sessionId,
    principal,
    created_at,
    cwd: '/',
    tool_mode: 'normal',
    mode: 'default',
  };
}

/** A small frame that says `message`. */
export function noticeFrame(message: string): NewFrame {
  return { type: 'notice', level: 'info', code: 'test', message };
}

/** `count` small frames, no two alike. */
export function noticeFrames(count: number, label = 'n'): NewFrame[] {
  return Array.from({ length: count }, (_, index) => noticeFrame(`${label} ${index}`));
}
