/** What the pools of these tests are made with. */
import { DEFAULT_LIMITS } from '../../../config/limits.ts';
import type { PoolConfiguration } from '../../../src/pool/assemble.ts';

/** Simple mode knows Bash and Read, REPL mode hides Read. */
export const configuration: PoolConfiguration = {
  simpleTools: ['Bash', 'Read'],
  hiddenInRepl: ['Read'],
  toolSearch: 'auto',
  limits: DEFAULT_LIMITS,
};
