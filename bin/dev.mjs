/**
 * `npm run dev`: the server from its sources, started again on each change, its logs readable.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { setup } from './setup.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const LEVELS = { 10: 'trace', 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' };

await setup({ forTests: true, programs: false });
const server = spawn(
  process.execPath,
  [`${root}/node_modules/tsx/dist/cli.mjs`, 'watch', `${root}/bin/gauntlet.ts`, 'serve', ...process.argv.slice(2)],
  { stdio: ['inherit', 'inherit', 'pipe'] },
);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => server.kill(signal));
server.once('exit', (code) => process.exit(code ?? 1));
createInterface({ input: server.stderr }).on('line', (line) => process.stderr.write(`${readable(line)}\n`));

/** One log line for a person; what is no log line stays as it is. */
function readable(line) {
  let entry;
  try {
    entry = JSON.parse(line);
  } catch {
    // Not JSON: a stack trace, or a word of the watcher.
    return line;
  }
  const { time, level, msg, pid, hostname, ...rest } = entry;
  const clock = new Date(time).toISOString().slice(11, 23);
  const details = Object.keys(rest).length === 0 ? '' : ` ${JSON.stringify(rest)}`;
  return `${clock} ${(LEVELS[level] ?? String(level)).padEnd(5)} ${msg ?? ''}${details}`;
}
