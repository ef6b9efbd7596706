/**
 * Detects whether sandboxes work on this machine, by running a command in one.
 */
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { ShellLauncher } from '../process-host.ts';

/** Characters kept of bubblewrap's error output. */
const MAX_ERROR_CHARS = 1_000;

/**
 * Run `true` in a sandbox.
 *
 * @returns The reason why it failed, as a clause; `undefined` if it worked.
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
  let errorOutput = '';
  child.stderr?.on('data', (chunk: Buffer) => (errorOutput = (errorOutput + String(chunk)).slice(0, MAX_ERROR_CHARS)));
  return new Promise((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code === 'ENOENT' ? 'bubblewrap is not installed' : error.message);
    });
    child.once('close', (code, signal) => {
      const [line = ''] = errorOutput.split('\n');
      resolve(code === 0 ? undefined : line || `bubblewrap failed (${String(signal ?? code)})`);
    });
  });
}
