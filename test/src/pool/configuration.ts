/** What the pools of these tests are made with. */
import type { PoolConfiguration } from '../../../src/pool/assemble.ts';

/** Simple mode knows Bash and Read, REPL mode hides Read. */
export const configuration: PoolConfiguration = {
  simpleTools: ['Bash', 'Read'],
  hiddenInRepl: ['Read'],
  toolSearch: 'auto',
};
