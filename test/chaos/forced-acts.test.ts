/**
 * Commands that act are forced through the jail as if they had been judged to read: nothing is written, changed, sent
 * or signalled, and nothing that lies outside is read.
 */
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { homedir, hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { processesWith, run, testProcessHost, until } from '../helpers/process-host.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { labelledCommands } from '../src/shell/labelled-commands.ts';
import { bareBash, canContain } from './fuzz/bare-bash.ts';
import { makeDecoys } from './fuzz/decoys.ts';
import { hostileActs, type Targets, writingActs } from './fuzz/hostile-acts.ts';
import { jailedBash } from './fuzz/jailed-bash.ts';
import { quote } from './fuzz/script-batches.ts';

const CANARY = 'canary-of-forced-acts';
const HOSTILE_CALLS = join(import.meta.dirname, '../fixtures/hostile-calls.mjs');

/** Where packages lie, which may be a link. */
const MODULES = realpathSync(join(import.meta.dirname, '../../node_modules'));

/** Commands that share a shell. */
/** Some five thousand commands, a tenth of a second each on a busy machine. */
const CORPUS_MS = 900_000;
const BATCH = 100;

const host = testProcessHost();
const endings: (() => unknown)[] = [];
afterAll(() => Promise.all(endings.map((end) => end())));

describe.each(['Landlock', 'bubblewrap'] as const)('in the jail of %s', (kind) => {
  const folder = temporaryFolder();
  const heard: string[] = [];
  let world: Awaited<ReturnType<typeof makeWorld>>;

  beforeAll(async () => {
    world = await makeWorld();
  });

  async function makeWorld() {
    const { userId } = await host.jailSupport();
    const decoys = makeDecoys(join(folder, 'decoys'), {
      content: CANARY,
      ...(userId !== undefined && { owner: userId }),
    });
    symlinkSync(join(decoys.outside, 'decoy'), join(decoys.work, 'link'));
    symlinkSync(decoys.outside, join(decoys.work, 'link-folder'));
    decoys.settle();
    const targets = await listen(heard, join(folder, 'socket'), `gauntlet-forced-${kind}-${process.pid}`);
    // Of the user that the jail runs as, so that no permission keeps a signal from it.
    const sentinel = spawn('/bin/sleep', ['100000'], {
      env: { CANARY },
      cwd: decoys.outside,
      stdio: 'ignore',
      ...(userId !== undefined && { uid: userId, gid: userId }),
    });
    endings.push(() => sentinel.kill('SIGKILL'));
    await once(sentinel, 'spawn');
    const processId = sentinel.pid ?? 0;
    const more = [dirname(HOSTILE_CALLS), MODULES];
    const bash = jailedBash(host, decoys, { folder, kind, more, canary: CANARY });
    return { decoys, bash, targets: { ...targets, outside: decoys.outside, processId }, before: stateOf(processId) };
  }

  /** What each act must leave as it was. */
  function expectUntouched(): void {
    expect(heard).toEqual([]);
    expect(stateOf(world.targets.processId)).toEqual(world.before);
    expect(world.decoys.isChanged()).toBe(false);
  }

  async function grantedCalls(): Promise<string> {
    const { targets, bash } = world;
    const calls = [
      HOSTILE_CALLS,
      join(MODULES, 'koffi'),
      join(targets.outside, 'decoy'),
      targets.outside,
      String(targets.processId),
    ];
    return bash.print(`node ${calls.join(' ')}`);
  }

  it('no system call is granted that a reading command has no use for', async () => {
    expect(await grantedCalls()).toBe('[]\n');
    expectUntouched();
  });

  it('no hostile command writes, reads outside, sends or signals', async () => {
    // Some of these would end every process of the user: first it must be certain that no signal gets out.
    expect(await grantedCalls()).toBe('[]\n');
    const acts = hostileActs(world.targets);
    await expectHarmless(acts);
  });

  it(
    'no command of those that count as acting does either',
    async () => {
      expect(await grantedCalls()).toBe('[]\n');
      const lines = (['not-read-only', 'denied'] as const).flatMap((name) =>
        [...labelledCommands(name).values()].flat(),
      );
      // Bubblewrap takes a file that a rule hides; one in five is enough to see that it holds as Landlock does.
      await expectHarmless([...new Set(lines)].filter((_line, at) => kind === 'Landlock' || at % 5 === 0));
    },
    CORPUS_MS,
  );

  async function expectHarmless(commands: readonly string[]): Promise<void> {
    const start = performance.now();
    const acting: string[] = [];
    let cutOff = 0;
    for (let at = 0; at < commands.length; at += BATCH) {
      const ended = await world.bash.run(commands.slice(at, at + BATCH));
      acting.push(...ended.acting);
      cutOff += ended.cutOff.length;
    }
    const tookS = ((performance.now() - start) / 1_000).toFixed(0);
    console.log(`${kind}: ${commands.length} commands forced in ${tookS} s, ${cutOff} cut off, ${acting.length} acted`);
    expect(acting).toEqual([]);
    expectUntouched();
  }

  it.each([
    ['a fork bomb', 'bomb() { bomb | bomb & }; bomb; wait; while :; do bomb; done'],
    ['endless loops in the background', 'for i in 1 2 3 4 5 6; do while :; do :; done & done; wait'],
    ['a memory hog', 'perl -e \'$a .= "x" x 100_000_000 while 1\'; sleep 2'],
  ])('the machine survives %s', async (_title, script) => {
    const marker = `forced-${kind}-${Math.random().toString(36).slice(2)}`;
    // Of a shell that was started ahead the kernel shows another environment.
    let hasEnded = false;
    const command = `bash -c ${quote(script)}`;
    const printed = world.bash.print(command, { GAUNTLET_FORCED: marker }, 4_000).finally(() => (hasEnded = true));
    // What the test before left to end may slow the look down by more than the command lives.
    await until(() => hasEnded || processesWith(marker).length > 0, 20_000);
    expect(await run(host, { shellScript: 'echo alive' })).toMatchObject({ stdout: 'alive\n' });
    await printed;
    await until(() => processesWith(marker).length === 0, 20_000);
    expectUntouched();
  });
});

it('most of the hostile commands do write where nothing holds them', async () => {
  // Only where they cannot write elsewhere.
  if (!canContain()) return;
  const decoys = makeDecoys(join(temporaryFolder(), 'bare'));
  const acts = writingActs(decoys.outside);
  const { acting } = await bareBash(decoys, true)(acts);
  expect(acting.length).toBeGreaterThan(acts.length / 2);
});

/** Listen on the loopback and on UNIX sockets. @param heard Grows by what comes in. */
async function listen(
  heard: string[],
  socketPath: string,
  socketName: string,
): Promise<Pick<Targets, 'tcpPort' | 'udpPort' | 'socketPath' | 'socketName'>> {
  const server = (name: string) => {
    const made = createServer((socket: Socket) => {
      heard.push(name);
      socket.destroy();
    });
    endings.push(() => made.close());
    return made;
  };
  const tcp = server('TCP').listen(0, '127.0.0.1');
  const unix = server('UNIX').listen(socketPath);
  const abstract = server('abstract UNIX').listen(`\0${socketName}`);
  const udp = createSocket('udp4', () => void heard.push('UDP')).bind(0, '127.0.0.1');
  endings.push(() => udp.close());
  await Promise.all([tcp, unix, abstract, udp].map((each) => once(each, 'listening')));
  return { tcpPort: (tcp.address() as AddressInfo).port, udpPort: udp.address().port, socketPath, socketName };
}

/** Of a process outside and of the machine, what an act could change. */
function stateOf(processId: number) {
  const read = (name: string) => readFileSync(`/proc/${processId}/${name}`, 'utf8');
  const [state, , , , , , , , , , , , , , , priority, niceness] = read('stat')
    .replace(/^.*\) /, '')
    .split(' ');
  const left = ['/tmp', '/var/tmp', '/dev/shm', '/run', homedir()].map((folder) => join(folder, 'gauntlet-forced'));
  return {
    isRunning: !/[TtZX]/.test(state ?? ''),
    ...{ priority, niceness, limits: read('limits'), oom: read('oom_score_adj'), name: read('comm') },
    processors: /^Cpus_allowed:.*$/m.exec(read('status'))?.[0],
    hostname: hostname(),
    left: left.filter((path) => existsSync(path)),
  };
}
