/** The MCP server that wants a login (`test/fixtures/oauth-server.mjs`), and a person with a browser. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';

const PROGRAM = new URL('../fixtures/oauth-server.mjs', import.meta.url).pathname;

/** Start it; it ends with the test. @param words As the fixture takes them. @returns The address of the MCP server. */
export async function protectedServer(...words: string[]): Promise<string> {
  const child = spawn(process.execPath, [PROGRAM, ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  for await (const line of createInterface({ input: child.stdout })) return (JSON.parse(line) as { url: string }).url;
  throw new Error('The server did not start');
}

/** Log in as the person would. @returns Where the browser is sent then. */
export async function logIn(address: string | undefined): Promise<URL> {
  const reply = await fetch(address ?? '', { redirect: 'manual' });
  return new URL(reply.headers.get('location') ?? '');
}
