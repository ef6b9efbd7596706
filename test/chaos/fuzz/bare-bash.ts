/**
 * Scripts run in bare bash, many in one process, in a folder that is looked at before and after.
 *
 * The environment and the way in (`eval` of a text, no start-up files, an empty standard input) are the server's. Where
 * bubblewrap works, everything but that folder is read-only for them: what a wrongly allowed script does must not
 * cost whoever runs the test.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shellRequest } from '../../../tools/shell/bash/shell-request.ts';

/** A place where scripts may be run. */
export interface BareBash {
  /**
   * Run scripts one after another.
   *
   * @returns Those that left something changed, and those that were cut off because they took too long.
   */
  run(scripts: readonly string[]): Promise<{ readonly acting: readonly string[]; readonly cutOff: readonly string[] }>;
}

/** Time for one script, in milliseconds: all of them end at once, or wait for something that never comes. */
const MAX_SCRIPT_MS = 2_000;

/**
 * Bounds for what a script starts, and a pipe that ends when nothing that a script left running holds it any more.
 * Descriptors 50 and 3 stand where no script looks for them, or are closed.
 */
const PROLOGUE = 'ulimit -t 2 -v 4000000 -f 20000 -c 0; exec 50> >(exec cat >&3) 3>&-; piped=$!';
const EPILOGUE = 'exec 50>&-; wait "$piped"';

/** Whether bubblewrap makes sandboxes here. */
export function canContain(): boolean {
  return (
    spawnSync('bwrap', ['--ro-bind', '/', '/', '--proc', '/proc', '--unshare-pid', '--unshare-net', 'true']).status ===
    0
  );
}

/** @param folder Empty; holds the world of the scripts from now on. */
export function bareBash(folder: string, isContained: boolean): BareBash {
  const world = join(folder, 'world');

  const makeWorld = (): string => {
    rmSync(world, { recursive: true, force: true });
    for (const path of ['work/d', 'work/.git', 'home', 'outside']) mkdirSync(join(world, path), { recursive: true });
    for (const path of ['work/f', 'work/g', 'work/d/h', 'work/.env', 'home/.profile', 'outside/decoy'])
      writeFileSync(join(world, path), 'a 1\nb 2\n');
    return fingerprint(world);
  };
  let before = makeWorld();

  const isChanged = (): boolean => {
    if (fingerprint(world) === before) return false;
    before = makeWorld();
    return true;
  };

  /** Run all; what is found is narrowed down by halves. */
  const findActing = async (scripts: readonly string[], cutOff: Set<string>): Promise<readonly string[]> => {
    for (let rest = scripts; rest.length > 0;) {
      const ended = await runProcess(rest);
      if (ended < rest.length) cutOff.add(rest[ended] ?? '');
      rest = rest.slice(ended + 1);
    }
    if (!isChanged()) return [];
    if (scripts.length === 1) return scripts;
    const middle = Math.ceil(scripts.length / 2);
    const halves = [scripts.slice(0, middle), scripts.slice(middle)];
    const found: string[] = [];
    for (const half of halves) found.push(...(await findActing(half, cutOff)));
    return found;
  };

  /** @returns How many scripts ended. */
  const runProcess = (scripts: readonly string[]): Promise<number> => {
    const lines = scripts.map((script) => {
      const { shellScript = '' } = shellRequest(script, '/');
      // A subshell keeps what one script sets from the next, and costs less than a process.
      return `(unset piped;eval ${quote(shellScript)}) </dev/null >/dev/null 2>&1\nprintf . >&50\n`;
    });
    const programFile = join(folder, 'program');
    writeFileSync(programFile, `${PROLOGUE}\n${lines.join('')}${EPILOGUE}\n`);
    const bash = ['bash', '--noprofile', '--norc', '-c', 'eval "$(<"$0")"', programFile];
    const [file = '', ...args] = isContained ? [...containedIn(world), ...bash] : bash;
    const { env } = shellRequest('true', '/');
    const child = spawn(file, args, {
      cwd: join(world, 'work'),
      env: { ...env, PATH: '/usr/local/bin:/usr/bin:/bin', HOME: join(world, 'home'), LANG: 'C.UTF-8' },
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
      detached: true,
    });
    return watched(child);
  };

  return {
    async run(scripts) {
      const cutOff = new Set<string>();
      return { acting: await findActing(scripts, cutOff), cutOff: [...cutOff] };
    },
  };
}

/** Wait for a process that writes a byte to its descriptor 3 for each script. */
function watched(child: ChildProcess): Promise<number> {
  const progress = child.stdio[3];
  const kill = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch (error) {
      // The whole group has ended by itself.
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  };
  let ended = 0;
  let timer = setTimeout(kill, MAX_SCRIPT_MS);
  progress?.on('data', (chunk: Buffer) => {
    ended += chunk.length;
    clearTimeout(timer);
    timer = setTimeout(kill, MAX_SCRIPT_MS);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => {
      clearTimeout(timer);
      kill();
      resolve(ended);
    });
  });
}

/** The machine without a network, read-only but for one folder. */
function containedIn(folder: string): readonly string[] {
  return [
    'bwrap', '--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts', '--die-with-parent',
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/run'],
    ...['--bind', folder, folder, '--'],
  ]; // prettier-ignore
}

/** What is there, and when any of it was last changed in any way. */
function fingerprint(folder: string): string {
  const stats = lstatSync(folder, { bigint: true });
  const own = `${folder} ${stats.ino} ${stats.mode} ${stats.uid} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}\n`;
  return stats.isDirectory()
    ? own +
        readdirSync(folder)
          .sort()
          .map((name) => fingerprint(join(folder, name)))
          .join('')
    : own;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
