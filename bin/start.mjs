/**
 * `npm start`: setup, then the server in this same process, so that signals reach it.
 */
import process from 'node:process';
import { setup } from './setup.mjs';

await setup();
// npm runs scripts in the package's folder; the folder it was called from is the one the person meant.
if (process.env.npm_lifecycle_event === 'start' && process.env.INIT_CWD && !process.env.GAUNTLET_WORKSPACE) {
  process.env.GAUNTLET_WORKSPACE = process.env.INIT_CWD;
}
process.argv.splice(2, 0, 'serve');
await import('../dist/gauntlet.js');
