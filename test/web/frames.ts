/** Frames for tests of the console's model, numbered like those of a log. */
import type { Frame } from '../../client/src/wire.ts';

/** The time of the first frame. */
export const START_MS = Date.parse('2030-01-01T00:00:00.000Z');

type Draft = { readonly type: Frame['type'] } & Record<string, unknown>;

/** Makes frames with rising numbers, each at its millisecond. */
export function frameMaker(first = 1): (draft: Draft, atMs?: number) => Frame {
  let seq = first - 1;
  return (draft, atMs = 0) => {
    seq += 1;
    return { seq, ts: new Date(START_MS + atMs).toISOString(), ...draft } as unknown as Frame;
  };
}

/** A block that was accepted. */
export function block(id: string, more: Record<string, unknown> = {}): Draft {
  return {
    type: 'tool_use',
    turn_id: 't1',
    index: 0,
    tool_use: { type: 'tool_use', id, name: 'Bash', input: { command: 'ls' } },
    display: { title: 'Bash', blocks: [{ kind: 'code', text: 'ls' }] },
    ...more,
  };
}

/** A result. */
export function result(id: string, status = 'ok', more: Record<string, unknown> = {}): Draft {
  return {
    type: 'result',
    ...{ turn_id: 't1', index: 0, tool_use_id: id },
    tool_result: { type: 'tool_result', tool_use_id: id, content: 'done' },
    call: { tool_use_id: id, name: 'Bash', status, duration_ms: 5, result_chars: 4 },
    display: { title: 'Done', blocks: [] },
    ...more,
  };
}

/** New output of a running call. */
export function output(id: string, text: string, n = 1): Draft {
  return {
    type: 'progress',
    ...{ tool_use_id: id, n, data: { type: 'bash', text } },
    display: { title: 'Running', blocks: [{ kind: 'code', text }] },
  };
}

/** A question about a call. */
export function question(id: string, requestId: string): Draft {
  return {
    type: 'permission_request',
    ...{ request_id: requestId, tool_use_id: id, tool_name: 'Bash', input: {}, title: 'May it?' },
    display: { title: 'Bash', blocks: [] },
    reason: { type: 'default' },
    ...{ destructive: false, warnings: [], suggestions: [], expires_at: '2030-01-01T01:00:00.000Z' },
  };
}
