/**
 * Bounds the open sockets: to the settings, for each address too, and to what leaves descriptors for the work.
 *
 * Sockets beyond a bound are not reset: a few are held for a moment, so that their request is answered with 503.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Limits } from '../config/limits.ts';

type ConnectionLimits = Pick<Limits, 'connections' | 'addressConnections' | 'reservedDescriptors'>;

/** Sockets beyond the bounds that are held at once to be told so; more are closed without a word. */
const MAX_REFUSED = 256;
/** A refused socket whose request has not arrived by then is closed without a word. */
const REFUSED_MS = 1_000;
/** Where descriptors are short, one in so many is for refused sockets. */
const REFUSED_SHARE = 8;

/**
 * Bound the sockets of a server, all together and those of each address where that is set.
 *
 * @returns Tells whether a socket is beyond a bound: its request is to be answered with 503.
 */
export function capConnections(server: Server, limits: ConnectionLimits): (socket: Socket) => boolean {
  const { maxAdmitted, maxRefused } = socketBounds(limits);
  const maxOfAddress = limits.addressConnections > 0 ? limits.addressConnections : Infinity;
  const admittedOfAddress = new Map<string, number>();
  const refused = new Set<Socket>();
  let admitted = 0;
  // The kernel's own sockets are bounded too, whatever becomes of the counts below.
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

/** `limits.connections`, or what this process may still open less `limits.reservedDescriptors`; at least 1. */
function socketBounds(limits: ConnectionLimits): { readonly maxAdmitted: number; readonly maxRefused: number } {
  const room = maxDescriptors() - descriptorsInUse() - limits.reservedDescriptors;
  const maxRefused = Math.max(0, Math.min(MAX_REFUSED, Math.floor(room / REFUSED_SHARE)));
  return { maxAdmitted: Math.max(1, Math.min(limits.connections, room - maxRefused)), maxRefused };
}

/** @returns Infinity where the system does not tell. */
function maxDescriptors(): number {
  const [, most] = /^Max open files\s+(\d+)/m.exec(tell(() => readFileSync('/proc/self/limits', 'utf8')) ?? '') ?? [];
  return most === undefined ? Infinity : Number(most);
}

function descriptorsInUse(): number {
  return tell(() => readdirSync('/proc/self/fd'))?.length ?? 0;
}

function tell<Answer>(look: () => Answer): Answer | undefined {
  try {
    return look();
  } catch {
    // There is no /proc: then only the settings bound the connections.
    return undefined;
  }
}
