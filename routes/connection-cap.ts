/**
 * Limits the open sockets: to the settings, per address too, and so that descriptors are left for the work.
 *
 * Some of the sockets beyond a limit are held for a moment, so that their request is answered with 503 instead of a
 * reset.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Limits } from '../config/limits.ts';

type ConnectionLimits = Pick<Limits, 'connections' | 'addressConnections'>;

/** Maximum of rejected sockets held for a reply; further ones are closed at once. */
const MAX_REFUSED = 256;
/** Time after which a rejected socket without a request is closed. */
const REFUSED_MS = 1_000;
/** Descriptors kept free where few may be open (`ulimit -n`): for the log, spilled results and children. */
const RESERVED_DESCRIPTORS = 32;
/** If descriptors are short, one in this many is reserved for rejected sockets. */
const DESCRIPTORS_PER_REFUSED_SOCKET = 8;

/**
 * Limit the sockets of a server, in total and, if configured, per address.
 *
 * @returns A function that returns true if a socket is beyond a limit: its request is to be answered with 503.
 */
export function capConnections(server: Server, limits: ConnectionLimits): (socket: Socket) => boolean {
  const { maxAdmitted, maxRefused } = socketBounds(limits);
  const maxOfAddress = limits.addressConnections > 0 ? limits.addressConnections : Infinity;
  const admittedOfAddress = new Map<string, number>();
  const refused = new Set<Socket>();
  let admitted = 0;
  // Also limits the accepted sockets, independently of the counts below.
  server.maxConnections = maxAdmitted + maxRefused;

  function admit(socket: Socket, address: string, countOfAddress: number): void {
    admitted += 1;
    admittedOfAddress.set(address, countOfAddress + 1);
    socket.once('close', () => {
      admitted -= 1;
      const left = (admittedOfAddress.get(address) ?? 1) - 1;
      if (left > 0) admittedOfAddress.set(address, left);
      else admittedOfAddress.delete(address);
    });
  }

  function refuse(socket: Socket): void {
    if (refused.size >= maxRefused) {
      socket.destroy();
      return;
    }
    refused.add(socket);
    const timer = setTimeout(() => socket.destroy(), REFUSED_MS).unref();
    socket.once('close', () => {
      clearTimeout(timer);
      refused.delete(socket);
    });
  }

  server.on('connection', (socket: Socket) => {
    const { remoteAddress = '' } = socket;
    const countOfAddress = admittedOfAddress.get(remoteAddress) ?? 0;
    if (admitted < maxAdmitted && countOfAddress < maxOfAddress) admit(socket, remoteAddress, countOfAddress);
    else refuse(socket);
  });
  return (socket) => refused.has(socket);
}

/**
 * `limits.connections`, or the descriptors this process may still open less `RESERVED_DESCRIPTORS`; at least 1.
 */
function socketBounds(limits: ConnectionLimits): { readonly maxAdmitted: number; readonly maxRefused: number } {
  const freeDescriptors = maxDescriptors() - descriptorsInUse() - RESERVED_DESCRIPTORS;
  const maxRefused = Math.max(0, Math.min(MAX_REFUSED, Math.floor(freeDescriptors / DESCRIPTORS_PER_REFUSED_SOCKET)));
  return { maxAdmitted: Math.max(1, Math.min(limits.connections, freeDescriptors - maxRefused)), maxRefused };
}

/** @returns Infinity if unknown. */
function maxDescriptors(): number {
  const [, maximum] =
    /^Max open files\s+(\d+)/m.exec(ifReadable(() => readFileSync('/proc/self/limits', 'utf8')) ?? '') ?? [];
  return maximum === undefined ? Infinity : Number(maximum);
}

function descriptorsInUse(): number {
  return ifReadable(() => readdirSync('/proc/self/fd'))?.length ?? 0;
}

function ifReadable<Answer>(read: () => Answer): Answer | undefined {
  try {
    return read();
  } catch {
    // No /proc: only the settings limit the connections.
    return undefined;
  }
}
