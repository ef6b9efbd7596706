/**
 * `npm run dev`: runs the server from its sources, restarts it on each change, and formats its logs.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { setup } from './setup.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

await setup({ forTests: true, programs: false });
// Imported after setup, which may have installed it.
const { default: pretty } = await import('pino-pretty');
const server = spawn(
  process.execPath,
  [`${root}/node_modules/tsx/dist/cli.mjs`, 'watch', `${root}/bin/gauntlet.ts`, 'serve', ...process.argv.slice(2)],
  { stdio: ['inherit', 'inherit', 'pipe'] },
);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => server.kill(signal));
// Lines that are not JSON, such as stack traces, pass through unchanged. `close` fires after the last line.
server.stderr.pipe(pretty({ destination: 2, sync: true, translateTime: 'HH:MM:ss.l' }));
server.once('close', (code) => process.exit(code ?? 1));
