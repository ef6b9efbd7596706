/**
 * Bash as the server starts it for what only reads, without a jail.
 *
 * Where bubblewrap works, everything but the decoys is read-only and there is no network: what a wrongly allowed script
 * does must not cost whoever runs the test.
 */
import { ShellLine } from '../../../src/shell/shell-line.ts';
import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { shellRequest } from '../../../tools/shell/bash/shell-request.ts';
import type { Decoys } from './decoys.ts';
import { type RunScripts, scriptRunner } from './script-batches.ts';

/** Whether bubblewrap makes sandboxes here. */
export function canContain(): boolean {
  const [file = '', ...args] = containedIn('/tmp');
  return spawnSync(file, [...args, 'true']).status === 0;
}

/** @param isContained As `canContain` says. */
export function bareBash(decoys: Decoys, isContained: boolean): RunScripts {
  // A program may be longer than an argument.
  const programFile = `${decoys.folder}.program`;
  const bash = ['bash', '--noprofile', '--norc', '-c', 'eval "$(<"$0")"', programFile];
  const [file = '', ...args] = isContained ? [...containedIn(decoys.folder), ...bash] : bash;
  const env = {
    ...shellRequest(new ShellLine('true'), '/').env,
    ...{ PATH: '/usr/local/bin:/usr/bin:/bin', HOME: decoys.home, LANG: 'C.UTF-8' },
  };
  return scriptRunner({
    decoys,
    start(program, onOutput) {
      writeFileSync(programFile, program);
      const child = spawn(file, args, { cwd: decoys.work, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
      child.stdout.on('data', (chunk: Buffer) => onOutput('stdout', chunk));
      child.stderr.on('data', (chunk: Buffer) => onOutput('stderr', chunk));
      const ended = new Promise((resolve, reject) => {
        child.on('error', reject);
        child.on('close', resolve);
      });
      return { ended, kill: () => endGroup(child.pid) };
    },
  });
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // The whole group has ended by itself.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** The machine without a network, read-only but for one folder. */
function containedIn(folder: string): readonly string[] {
  return [
    ...[
      'bwrap',
      '--unshare-pid',
      '--unshare-net',
      '--unshare-ipc',
      '--unshare-uts',
      '--die-with-parent',
      '--cap-drop',
      'ALL',
    ],
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/run'],
    ...['--bind', folder, folder, '--'],
  ];
}
