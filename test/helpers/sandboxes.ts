/** A sandbox over a real process host, for the tests of one file: a workspace, a home with secrets, a data directory. */
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { DEFAULT_LIMITS } from '../../config/limits.ts';
import type { SpawnRequest } from '../../src/process/process-host.ts';
import { openSandbox, type Sandbox, type SandboxOptions, type SandboxPlace } from '../../src/process/sandbox.ts';
import { run, testProcessHost } from './process-host.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Not below /tmp or /var/tmp, of which a sandbox has its own; the checkout itself may lie there. */
const OUTSIDE_TMP = join(homedir(), '.cache');

/** What no sandboxed command may get to see. */
export const SECRET = 'sandbox-canary';

/** Make it. Call it where hooks may be set: at the top of a `describe`. */
export function testSandbox(changes: Partial<SandboxOptions> = {}) {
  mkdirSync(OUTSIDE_TMP, { recursive: true });
  const folder = temporaryFolder(OUTSIDE_TMP);
  const at = (path: string) => join(folder, path);
  const host = testProcessHost();
  let sandbox: Sandbox | undefined;
  const denied: string[] = [];
  const place = {
    folders: [at('workspace')],
    sessionFolder: at('data/sessions/s'),
    reportFolder: at('data/sessions/s/reports'),
  };
  mkdirSync(at('workspace'));
  for (const secret of ['data/token', 'data/sessions/other/result', 'home/.ssh/id_rsa', 'home/.netrc', 'settings.json'])
    write(secret, SECRET);
  write('data/sessions/s/result', 'one of mine');

  beforeAll(async () => {
    sandbox = await openSandbox({
      mode: 'required',
      network: 'off',
      isAutoAllowed: false,
      homeFolder: at('home'),
      ownPaths: [at('data'), at('settings.json')],
      readOnlyPaths: [at('projects/tools/server')],
      limits: DEFAULT_LIMITS,
      folder: at('data/sandbox'),
      onMissing: () => undefined,
      onDenied: (sessionId, { host, port }) => void denied.push(`${sessionId} ${host}:${port}`),
      ...changes,
    });
  });

  afterAll(() => sandbox?.close());

  function write(path: string, content = ''): string {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), content);
    return at(path);
  }

  /** Run a script in the sandbox, in the workspace, to its end. */
  function shell(shellScript: string, request: Partial<SpawnRequest> = {}, where: SandboxPlace = place) {
    if (sandbox === undefined) throw new Error('There is no sandbox');
    return sandbox.within(where, (launcher) => run(host, { cwd: at('workspace'), shellScript, launcher, ...request }));
  }

  return { host, at, write, shell, place, denied, within: () => sandbox as Sandbox };
}

/** Processes of the machine, those inside sandboxes too, that were started with `word` as an argument. */
export function countRunning(word: string): number {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && argumentsOf(name).includes(word)).length;
}

function argumentsOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    // It ended since the listing.
    return [];
  }
}
