/**
 * Whether there is a sandbox on this machine: found out by running something in one.
 */
import { execFile } from 'node:child_process';

/**
 * Run `true` behind a sandbox's arguments.
 *
 * @param command Program and arguments, as `bwrapCommand` makes them.
 * @returns Why it did not work, as a clause; undefined when it did.
 */
export function trySandbox([file = '', ...args]: readonly string[], timeoutMs: number): Promise<string | undefined> {
  const options = { timeout: timeoutMs, killSignal: 'SIGKILL', cwd: '/', env: { PATH: process.env['PATH'] } } as const;
  return new Promise((resolve) => {
    execFile(file, [...args, 'true'], options, (error, _stdout, stderr) => {
      if (error === null) return resolve(undefined);
      if (error.code === 'ENOENT') return resolve('bubblewrap is not installed');
      const [said = ''] = stderr.split('\n');
      resolve(said === '' ? `bubblewrap failed (${error.signal ?? String(error.code)})` : said);
    });
  });
}
