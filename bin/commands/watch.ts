/** `gauntlet watch SESSION`: follows a session: its calls, the ends of their output, its questions. */
import { createInterface } from 'node:readline';
import type { SessionDescription } from '../../src/wire/session-replies.ts';
import type { Frame } from '../../src/wire/frames.ts';
import { type ClientCommand, requestJson, send, serverOf } from '../server-client.ts';
import { safeLine, safeText } from '../terminal-text.ts';
import { questionText } from './answer.ts';

/** Frames before the last one that are shown first. */
const EARLIER_FRAMES = 40;

/** Output of one piece of progress that is shown: its end. */
const MAX_TAIL_CHARS = 2_000;

/** Follow the session until it is removed or the server ends. @returns The exit code. */
export async function watchSession(command: ClientCommand): Promise<number> {
  const server = serverOf(command);
  const [sessionId = ''] = command.operands;
  const path = `/sessions/${encodeURIComponent(sessionId)}`;
  const session = await requestJson<SessionDescription>(server, { method: 'GET', path });
  process.stdout.write(
    `${safeLine(`${session.title ?? sessionId}: ${session.state}, ${session.mode}, in ${session.cwd}`)}\n`,
  );
  const from = command.options['all'] === true ? 0 : Math.max(0, session.head - EARLIER_FRAMES);
  const request = { method: 'GET', path: `${path}/events?from_seq=${from}`, accept: 'application/x-ndjson' } as const;
  for await (const line of createInterface({ input: await send(server, request) })) {
    if (line !== '') process.stdout.write(frameText(JSON.parse(line) as Frame));
  }
  process.stdout.write('The stream has ended.\n');
  return 0;
}

/** Format one frame; those that only clients with a memory need are left out. */
function frameText(frame: Frame): string {
  switch (frame.type) {
    case 'tool_use': {
      const { name } = frame.tool_use;
      const { title, subtitle = '' } = frame.display;
      return `> ${safeLine(`${name}: ${title} ${subtitle}`)}\n`;
    }
    case 'progress': {
      const { text, message } = frame.data as { readonly text?: unknown; readonly message?: unknown };
      const shown = typeof text === 'string' ? text : typeof message === 'string' ? message : '';
      return indented(shown.slice(-MAX_TAIL_CHARS));
    }
    case 'permission_request':
      return `? ${questionText(frame)}`;
    case 'permission_resolved':
      return `  ${safeLine(`${frame.behavior} by ${frame.by}: ${frame.reason}`)}\n`;
    case 'result': {
      const { name, status, error_code: error, duration_ms: took } = frame.call;
      const how = error === undefined ? status : `${status} (${error})`;
      const { title, subtitle = '' } = frame.condensed ?? frame.display;
      return `< ${safeLine(`${name}: ${how} after ${Math.round(took)} ms. ${title} ${subtitle}`)}\n`;
    }
    case 'task_started':
      return `+ ${safeLine(`task ${frame.task_id}: ${frame.description}`)}\n`;
    case 'task_ended':
      return `- ${safeLine(`task ${frame.task_id}: ${frame.status}`)}\n`;
    case 'notice':
      return `! ${safeLine(frame.message)}\n`;
    default:
      return '';
  }
}

function indented(text: string): string {
  const lines = safeText(text).trimEnd();
  return lines === '' ? '' : `${lines.replace(/^/gm, '  ')}\n`;
}
