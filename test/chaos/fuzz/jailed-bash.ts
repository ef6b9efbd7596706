/** Bash in the jail of commands that only read, as the server starts it in there. */
import { ShellLine } from '../../../src/shell/shell-line.ts';
import { join } from 'node:path';
import { DEFAULT_LIMITS } from '../../../config/limits.ts';
import { createJail, type Jail } from '../../../src/process/jail/jail.ts';
import type { JailPlace } from '../../../src/process/jail/place.ts';
import type { ManagedProcessHost } from '../../../src/process/host-client.ts';
import type { HostedProcess } from '../../../src/process/process-host.ts';
import { shellRequest } from '../../../tools/shell/bash/shell-request.ts';
import type { Decoys } from './decoys.ts';
import { type RunScripts, type RunningShell, scriptRunner } from './script-batches.ts';

/** What the jail is made with: one that a rule hides a file from is bubblewrap's, the other is Landlock's. */
export type JailKind = 'Landlock' | 'bubblewrap';

/** A jail around decoys. */
export interface JailedBash {
  readonly run: RunScripts;
  /** Run one script to its end, or until the time is up. @returns What it wrote. */
  print(script: string, environment?: Readonly<Record<string, string>>, maxMs?: number): Promise<string>;
}

/**
 * Make the jail of a session that works in `decoys.work`.
 *
 * @param folder Of the jail's own.
 * @param more Folders that the session may read too.
 * @param canary No script may print this.
 */
export function jailedBash(
  host: ManagedProcessHost,
  decoys: Decoys,
  { folder, kind, more = [], canary }: { folder: string; kind: JailKind; more?: readonly string[]; canary?: string },
): JailedBash {
  const settings = { scope: 'reads', isRequired: true, wordsAlone: false } as const;
  const jail = createJail({
    settings,
    host,
    ownPaths: [],
    readOnlyPaths: [],
    folder: join(folder, 'jail'),
    limits: DEFAULT_LIMITS,
  });
  const hidden = join(decoys.work, '.env');
  const denials = {
    version: 1,
    isDenied: (path: string) => kind === 'bubblewrap' && path === hidden,
    mayDenyBelow: () => kind === 'bubblewrap',
    places: () => [],
  };
  const place = {
    ...{ principal: 'owner', sessionId: kind, sessionFolder: join(folder, 'session') },
    ...{ folders: [decoys.work, ...more], denials },
  };
  const start = (script: string, onOutput: OnOutput, environment = {}): RunningShell =>
    startShell({ jail, place, host }, { script, onOutput, environment, cwd: decoys.work });
  return {
    run: scriptRunner({ decoys, start, ...(canary !== undefined && { canary }) }),
    async print(script, environment, maxMs = 20_000) {
      let text = '';
      const shell = start(script, (_stream, chunk) => void (text += chunk.toString('latin1')), environment);
      const timer = setTimeout(() => shell.kill(), maxMs);
      await shell.ended;
      clearTimeout(timer);
      return text;
    },
  };
}

type OnOutput = (stream: 'stdout' | 'stderr', chunk: Buffer) => void;

interface JailedScript {
  readonly script: string;
  readonly cwd: string;
  readonly onOutput: OnOutput;
  readonly environment: Readonly<Record<string, string>>;
}

function startShell(
  { jail, place, host }: { jail: Jail; place: JailPlace; host: ManagedProcessHost },
  { script, cwd, onOutput, environment }: JailedScript,
): RunningShell {
  const { env } = shellRequest(new ShellLine('true'), cwd);
  let child: HostedProcess | undefined;
  let isKilled = false;
  let killed: Promise<void> | undefined;
  const ended = jail.within(place, false, async ({ request }) => {
    if (isKilled) return;
    child = host.spawn({
      ...{ file: 'bash', args: [], cwd, shellScript: script, onOutput, ...request },
      env: { ...env, ...environment, ...request.env },
    });
    await child.exited;
    await killed;
    await child.killTree();
  });
  return {
    ended,
    kill() {
      isKilled = true;
      killed ??= child?.killTree();
    },
  };
}
