/** `gauntlet status`: prints how the running server is. */
import type * as z from 'zod';
import type { McpServers } from '../../src/wire/mcp-replies.ts';
import type { Health, Readiness } from '../../src/wire/server-replies.ts';
import type { AllPrompts } from '../../src/wire/session-replies.ts';
import { type ClientCommand, requestJson, type RunningServer, serverOf } from '../server-client.ts';
import { safeJson, safeLine } from '../terminal-text.ts';
import { listSessions } from './sessions.ts';

const STATES = ['running', 'waiting', 'idle'] as const;

/** Print version, uptime, sessions, questions, MCP servers and containment. @returns The exit code. */
export async function printServerStatus(command: ClientCommand): Promise<number> {
  const server = serverOf(command);
  const status = await readStatus(server);
  const text = command.options['json'] === true ? safeJson(status) : statusLines(server, status).join('\n');
  process.stdout.write(`${text}\n`);
  return 0;
}

type Status = Awaited<ReturnType<typeof readStatus>>;

async function readStatus(server: RunningServer) {
  const get = <Reply>(path: string) => requestJson<Reply>(server, { method: 'GET', path });
  const { version } = await get<z.output<typeof Health>>('/healthz');
  const readiness = await get<z.output<typeof Readiness>>('/readyz?verbose');
  const { principal } = await get<{ readonly principal: string }>('/principals/self');
  const sessions = await listSessions(server);
  const { prompts } = await get<AllPrompts>('/prompts');
  const { servers } = await get<z.output<typeof McpServers>>('/mcp-servers');
  const counts = STATES.map((state) => [state, sessions.filter((session) => session.state === state).length] as const);
  return {
    version,
    principal,
    ...readiness,
    sessions: Object.fromEntries(counts) as Record<(typeof STATES)[number], number>,
    open_questions: prompts.length,
    mcp_servers: servers,
  };
}

function statusLines(server: RunningServer, status: Status): readonly string[] {
  const { version, principal, uptime_ms: uptime = 0, containment, sessions, mcp_servers: servers } = status;
  const reading = containment && { jail: 'a jail of the kernel', words: 'their words alone', asked: 'a question each' };
  return [
    `Gauntlet ${version} at ${server.url.origin}`,
    `  up         ${duration(uptime)}, ${status.status}`,
    `  you        ${principal}`,
    `  sessions   ${STATES.map((state) => `${sessions[state]} ${state}`).join(', ')}`,
    `  questions  ${status.open_questions} open`,
    ...(reading
      ? [`  commands   that only read are held by ${reading[containment.reading]}${why(containment.missing)}`]
      : []),
    ...servers
      .map(({ name, state, reason, tool_count: tools }) => safeLine(`${name}: ${state}, ${tools} tools${why(reason)}`))
      .map((line, index) => `  ${index === 0 ? 'MCP      ' : '         '}  ${line}`),
  ];
}

function why(reason: string | undefined): string {
  return reason === undefined ? '' : `: ${safeLine(reason)}`;
}

/** Write a duration with its two largest units. */
function duration(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  const shown = first === -1 ? parts.slice(-1) : parts.slice(first, first + 2);
  return shown.map(([count, unit]) => `${count} ${unit}`).join(' ');
}
