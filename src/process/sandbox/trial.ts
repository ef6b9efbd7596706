/**
 * Whether there is a sandbox on this machine: found out by running something in one.
 */
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { ShellLauncher } from '../process-host.ts';

/** Of what bubblewrap says. */
const SAID_CHARS = 1_000;

/**
 * Run `true` in a sandbox.
 *
 * @returns Why it did not work, as a clause; undefined when it did.
 */
export function trySandbox(
  { command, files = [] }: Pick<ShellLauncher, 'command' | 'files'>,
  timeoutMs: number,
): Promise<string | undefined> {
  const [file = '', ...args] = command;
  const opened = files.map((path) => openSync(path, 'r'));
  const child = spawn(file, [...args, 'true'], {
    stdio: ['ignore', 'ignore', 'pipe', 'ignore', ...opened],
    ...{ timeout: timeoutMs, killSignal: 'SIGKILL', cwd: '/', env: { PATH: process.env['PATH'] } },
  });
  opened.forEach((descriptor) => closeSync(descriptor));
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => (said = (said + String(chunk)).slice(0, SAID_CHARS)));
  return new Promise((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code === 'ENOENT' ? 'bubblewrap is not installed' : error.message);
    });
    child.once('close', (code, signal) => {
      const [line = ''] = said.split('\n');
      resolve(code === 0 ? undefined : line || `bubblewrap failed (${String(signal ?? code)})`);
    });
  });
}
