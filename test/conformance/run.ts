/**
 * `npm run test:conformance [server | client]`: the required scenarios of the official MCP conformance suite, both
 * revisions. Without a word it runs both halves.
 */
import { runClientHalf } from './client-half.ts';
import { runServerSuite } from './server-suite.ts';
import { type Half, installSuite } from './suite.ts';

/** Each runs one half and returns true if it passed. */
const HALVES: Readonly<Record<Half, () => Promise<boolean>>> = { server: runServerSuite, client: runClientHalf };

const asked = process.argv.slice(2);
await installSuite();
let hasPassed = true;
for (const [half, run] of Object.entries(HALVES)) {
  if (asked.length === 0 || asked.includes(half)) hasPassed = (await run()) && hasPassed;
}
process.exit(hasPassed ? 0 : 1);
