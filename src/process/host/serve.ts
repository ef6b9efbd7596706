/**
 * Serves the frames of one server, and cleans up when its socket ends.
 */
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { createChildren } from './children.ts';
import { loadJails, type Jails } from './jails.ts';
import type { JailRules } from '../process-host.ts';
import type { JailOpenedMessage, KillTreeMessage, SpawnMessage } from './messages.ts';
import type { HostSettings } from './settings.ts';
import { createGuardian } from './guardian.ts';
import { createTreeKiller, endGroup, signalGroup, sweep } from './kill-tree.ts';
import { frameDecoder, FromHost, type HostFrame, ToHost, writeFrame, writeJsonFrame } from './protocol.ts';
import { loadLibc } from './libc.ts';
import { createNativeStarter } from './native-starter.ts';
import { startWithNode } from './starter.ts';
import { createShellSupply } from './shell-supply.ts';

/**
 * Sandboxes that have a shell started ahead, each for one session's next command, those used last; some 4 MiB each.
 */
const WARM_SANDBOXES = 8;

/** Jails that have a shell started ahead, those used last; some 3 MiB each. */
const WARM_JAILS = 8;

/** Up to this many running children, each ended tree is swept at once; beyond it, trees share sweeps. */
const FEW_CHILDREN = 4;

/** Serve one server over `socket` until it ends; then end every child. Resolves when none is left. */
export async function serveHost(socket: Socket): Promise<void> {
  const closed = new Promise<undefined>((resolve) => socket.once('close', () => resolve(undefined)));
  const frames = readFrames(socket);
  // The host is started before the server knows all that it will be told: what needs no settings is done meanwhile.
  const [libc, first] = await Promise.all([loadLibc(), Promise.race([frames.first, closed])]);
  if (first === undefined) return;
  if (first.kind !== ToHost.configure) throw new RangeError(`Cannot begin with a frame of kind ${first.kind}`);
  const settings = JSON.parse(first.payload.toString()) as HostSettings;
  await serveFrames(settings, await makeParts(settings, libc), { socket, take: frames.take });
}

/** Frames of a socket; later ones are queued until they are read. */
interface HostFrames {
  readonly first: Promise<HostFrame>;
  /** Pass on every frame behind the first, those that wait at once. */
  take(onFrame: (frame: HostFrame) => void): void;
}

function readFrames(socket: Socket): HostFrames {
  let waiting: HostFrame[] = [];
  let onFrame = (frame: HostFrame): void => void waiting.push(frame);
  const first = new Promise<HostFrame>((resolve) => {
    const wait = onFrame;
    onFrame = (frame) => {
      onFrame = wait;
      resolve(frame);
    };
  });
  socket
    .on(
      'data',
      frameDecoder((frame) => onFrame(frame)),
    )
    .on('error', () => socket.destroy());
  return {
    first,
    take(next) {
      onFrame = next;
      for (const frame of waiting) next(frame);
      waiting = [];
    },
  };
}

async function serveFrames(
  settings: HostSettings,
  { isOwn, jails, shells, guardian, parts }: Awaited<ReturnType<typeof makeParts>>,
  { socket, take }: Pick<HostFrames, 'take'> & { readonly socket: Socket },
): Promise<void> {
  const { running, spawn } = createChildren(settings, socket, { shells, jails, parts });
  const trees = createTreeKiller(settings.killGraceMs, () => running.size > FEW_CHILDREN);

  function dispatch({ kind, child: id, payload }: HostFrame): void {
    const child = running.get(id);
    switch (kind) {
      case ToHost.spawn:
        return spawn(id, JSON.parse(payload.toString()) as SpawnMessage);
      case ToHost.stdin:
        return writeInput(child?.input, payload, () => writeFrame(socket, FromHost.stdinTaken, id));
      case ToHost.stdinEnd:
        child?.input?.end();
        return;
      case ToHost.signal:
        if (child !== undefined) signalGroup(child.pid, payload.toString() as NodeJS.Signals);
        return;
      case ToHost.acknowledge:
        child?.acknowledge(payload.readUInt32BE(0));
        return;
      case ToHost.killTree:
        return void endTree(id, JSON.parse(String(payload)) as KillTreeMessage);
      case ToHost.sweep:
        return void sweepOrphans(id);
      case ToHost.ping:
        return writeFrame(socket, FromHost.pong, id);
      case ToHost.jails:
        return writeJsonFrame(socket, FromHost.jails, id, jails.support);
      case ToHost.openJail:
        return writeJsonFrame(
          socket,
          FromHost.jailOpened,
          id,
          openJail(JSON.parse(String(payload)) as JailRules, jails),
        );
      default:
        throw new RangeError(`Cannot serve a frame of kind ${kind}`);
    }
  }

  /** Always reply, even if /proc cannot be read: the caller waits for it, and the host must not end. */
  async function endTree(id: number, tree: KillTreeMessage): Promise<void> {
    await trees.kill(tree).catch(() => undefined);
    writeFrame(socket, FromHost.treeKilled, id);
    // The call is over and the next one has not begun: the best time for a fork.
    shells.addOne();
  }
  async function sweepOrphans(id: number): Promise<void> {
    const count = await sweep((marker) => marker.startsWith(`${settings.ownerId}.`) && !isOwn(marker)).catch(() => 0);
    writeJsonFrame(socket, FromHost.swept, id, count);
  }

  shells.refillSoon();
  take(dispatch);
  // Behind the answers to the first frames: no child waits for the guardian's start.
  socket.on('data', () => guardian.keep());
  if (!socket.closed) await new Promise<void>((resolve) => socket.once('close', resolve));
  shells.close();
  await Promise.all([...running.values()].map(({ pid }) => endGroup(pid, settings.killGraceMs)));
  await sweep(isOwn);
}

/** @param taken Called when the pipe has taken it, or is gone. */
function writeInput(input: Writable | null | undefined, payload: Buffer, taken: () => void): void {
  if (input?.writable === true) input.write(payload, taken);
  else taken();
}

/** All that starts children, each under a marker of this host's own. */
async function makeParts(settings: HostSettings, libc: Awaited<ReturnType<typeof loadLibc>>) {
  const ownMarkers = `${settings.ownerId}.${settings.hostTag}-`;
  let markers = 0;
  const nextMarker = () => `${ownMarkers}${(markers += 1)}`;
  const parts = { start: libc === undefined ? startWithNode : createNativeStarter(libc), nextMarker };
  const counts = { plain: settings.warmShells, launchers: WARM_SANDBOXES, jails: WARM_JAILS };
  const shells = createShellSupply(counts, parts);
  return {
    isOwn: (marker: string) => marker.startsWith(ownMarkers),
    jails: await loadJails(settings, shells.forgetJail),
    shells,
    guardian: createGuardian(parts.start, ownMarkers),
    parts,
  };
}

function openJail(rules: JailRules, jails: Jails): JailOpenedMessage {
  try {
    jails.open(rules);
    return {};
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}
