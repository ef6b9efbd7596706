/** Bash in the jail of commands that only read, as the server would start it in there. */
import { shellRequest } from '../../../tools/shell/bash/shell-request.ts';
import { DEVICES, KERNEL_FOLDERS, SYSTEM_FILES, SYSTEM_FOLDERS } from '../../../src/process/jail-paths.ts';
import type { HostedProcess, JailHost, ProcessHost, SpawnRequest } from '../../../src/process/process-host.ts';
import type { Decoys } from './decoys.ts';
import { type RunScripts, scriptRunner } from './script-batches.ts';

/** Opens the jail that a session in `work` has. @returns How requests name it. @throws {Error} Where there is none. */
export async function openReadingJail(host: JailHost, work: string, more: readonly string[] = []): Promise<string> {
  const key = `reading ${work}`;
  const reads = [...SYSTEM_FOLDERS, ...SYSTEM_FILES, ...KERNEL_FOLDERS, ...DEVICES, work, ...more];
  const failure = await host.openJail({ key, reads, writes: [], isReadOnly: true });
  if (failure !== undefined) throw new Error(`Cannot open a jail: ${failure}`);
  return key;
}

/** @param canary No script may print this. */
export function jailedBash(host: ProcessHost, jail: string, decoys: Decoys, canary?: string): RunScripts {
  const request = { file: 'bash', args: [], cwd: decoys.work, env: shellRequest('true', '/').env, jail } as const;
  return scriptRunner({
    decoys,
    ...(canary !== undefined && { canary }),
    start: (shellScript, onOutput) => startShell(host, { ...request, shellScript, onOutput }),
  });
}

function startShell(host: ProcessHost, request: SpawnRequest) {
  const child: HostedProcess = host.spawn(request);
  let kill: Promise<void> | undefined;
  return {
    ended: child.exited.then(() => kill),
    kill: () => void (kill ??= child.killTree()),
  };
}
