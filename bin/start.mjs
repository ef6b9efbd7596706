/**
 * `npm start`: setup, then the server in this same process, so that signals reach it.
 */
import { setup } from './setup.mjs';

const NPM_WATCH_MS = 500;

await setup();
if (process.env.npm_lifecycle_event === 'start') {
  // npm runs scripts in the package's folder; the folder it was called from is the one the person meant.
  process.env.GAUNTLET_WORKSPACE ||= process.env.INIT_CWD;
  dieWithNpm();
}
process.argv.splice(2, 0, 'serve');
// Not spelled as a path, so that the type checker does not follow it into the build.
await import(new URL('../dist/gauntlet.js', import.meta.url).href);

/**
 * npm passes signals on, all but SIGKILL: whoever killed npm with it meant the server, which would
 * otherwise run on unseen and keep the data directory locked.
 */
function dieWithNpm() {
  const npm = process.ppid;
  setInterval(() => {
    if (process.ppid !== npm) process.kill(process.pid, 'SIGKILL');
  }, NPM_WATCH_MS).unref();
}
