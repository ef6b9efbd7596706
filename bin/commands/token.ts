/** `gauntlet token`: prints the bearer token, for `curl` and scripts. */
import { tmpdir } from 'node:os';
import { loadSettings } from '../../config/settings.ts';
import { ensureToken } from '../token-file.ts';

/** Print the token, creating it if it does not exist. @returns The exit code. */
export function printToken(environment: NodeJS.ProcessEnv): number {
  // The token does not depend on the workspace; any existing folder passes validation.
  const settings = loadSettings({ environment: { ...environment, GAUNTLET_WORKSPACE: tmpdir() }, isClient: true });
  process.stdout.write(`${ensureToken(settings)}\n`);
  return 0;
}
