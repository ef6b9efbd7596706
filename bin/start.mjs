/**
 * `npm start`: runs setup, then the server in the same process, so that signals reach it.
 */
import { setup } from './setup.mjs';

const NPM_WATCH_MS = 500;

await setup();
if (process.env.npm_lifecycle_event === 'start') {
  // npm runs scripts in the package's folder; the workspace is the folder it was called from.
  process.env.GAUNTLET_WORKSPACE ||= process.env.INIT_CWD;
  dieWithNpm();
}
process.argv.splice(2, 0, 'serve');
// A URL instead of a path, so that the type checker does not follow it into the build.
await import(new URL('../dist/gauntlet.js', import.meta.url).href);

/**
 * Exit when npm does. npm forwards all signals except SIGKILL; after one, the server would otherwise run on unnoticed
 * and keep the data directory locked.
 */
function dieWithNpm() {
  const npm = process.ppid;
  setInterval(() => {
    if (process.ppid !== npm) process.kill(process.pid, 'SIGKILL');
  }, NPM_WATCH_MS).unref();
}
