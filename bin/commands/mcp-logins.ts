/** `gauntlet mcp login | logout | status`: logins at MCP servers, from a terminal. */
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type * as z from 'zod';
import type { McpLoginBegun, McpLogout, McpServers } from '../../src/wire/mcp-replies.ts';
import { type ClientCommand, requestJson, type RunningServer, send, serverOf } from '../server-client.ts';
import { safeText } from '../terminal-text.ts';

type ListedServer = z.output<typeof McpServers>['servers'][number];

/** Pause between two looks at the login. */
const POLL_MS = 500;

/** Log in at an MCP server: print the address to open, and wait until the person has been there. @returns The exit code. */
export async function logIn(command: ClientCommand): Promise<number> {
  const server = serverOf(command);
  const [name = ''] = command.operands;
  const begun = await requestJson<z.output<typeof McpLoginBegun>>(server, { method: 'POST', path: loginPath(name) });
  if (begun.authorization_url === undefined) {
    print(`"${name}" is connected and wants no login.`);
    return 0;
  }
  print(`Open this address in a browser:\n\n${begun.authorization_url}\n`);
  print('If the browser ends at an address that it cannot reach, paste that address here.');
  const stopReading = readAnswer(server);
  try {
    const login = await finishedLogin(server, name);
    if (login?.state !== 'held' || login.failure !== undefined) {
      throw new Error(login?.failure ?? `The login at "${name}" was not finished in time`);
    }
  } finally {
    stopReading();
  }
  print(`Logged in at "${name}".`);
  return 0;
}

/** Log out at an MCP server. @returns The exit code. */
export async function logOut(command: ClientCommand): Promise<number> {
  const [name = ''] = command.operands;
  const request = { method: 'DELETE', path: loginPath(name) } as const;
  const { was_logged_in: wasHeld, revoked } = await requestJson<z.output<typeof McpLogout>>(serverOf(command), request);
  if (!wasHeld) print(`There was no login at "${name}".`);
  else print(`Logged out at "${name}"; the tokens are ${revoked ? 'revoked' : 'forgotten, and not revoked there'}.`);
  return 0;
}

/** Print the MCP servers and the logins at them. @returns The exit code. */
export async function printStatus(command: ClientCommand): Promise<number> {
  const servers = await listServers(serverOf(command));
  if (command.options['json']) print(JSON.stringify({ servers }));
  else for (const server of servers) print(statusLine(server));
  return 0;
}

function statusLine({ name, state, reason, tool_count: count, login }: ListedServer): string {
  const held = login === undefined ? 'no login needed' : LOGIN_WORDS[login.state];
  return [name, state, held, `${count} tools`, ...(reason === undefined ? [] : [reason])].join('\t');
}

const LOGIN_WORDS = { none: 'not logged in', pending: 'login begun', held: 'logged in' } as const;

/** Wait until the login that was begun has ended, as the server bounds it. */
async function finishedLogin(server: RunningServer, name: string): Promise<ListedServer['login']> {
  for (;;) {
    const { login } = (await listServers(server)).find((listed) => listed.name === name) ?? {};
    if (login?.state !== 'pending') return login;
    await delay(POLL_MS);
  }
}

/** Pass on the address that the person pastes: the browser may be on another machine. @returns A function that stops. */
function readAnswer(server: RunningServer): () => void {
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    const text = line.trim();
    const search = URL.canParse(text) ? new URL(text).search : '';
    if (!search.includes('state=')) {
      if (text !== '') print('That is not the address that the browser was sent to: it has no "state".');
      return;
    }
    const path = `/oauth/callback${search}`;
    send(server, { method: 'GET', path, accept: '*/*' }).then(
      (reply) => reply.resume(),
      (error: unknown) => print(error instanceof Error ? error.message : String(error)),
    );
  });
  return () => {
    lines.close();
    process.stdin.destroy();
  };
}

async function listServers(server: RunningServer): Promise<readonly ListedServer[]> {
  return (await requestJson<z.output<typeof McpServers>>(server, { method: 'GET', path: '/mcp-servers' })).servers;
}

function loginPath(name: string): string {
  return `/mcp-servers/${encodeURIComponent(name)}/login`;
}

function print(text: string): void {
  process.stdout.write(`${safeText(text)}\n`);
}
