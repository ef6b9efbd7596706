/**
 * How many sockets may be open: as many as the settings say, for each address too, and no more than leave descriptors
 * for the work.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Limits } from '../config/limits.ts';

type ConnectionLimits = Pick<Limits, 'connections' | 'addressConnections' | 'reservedDescriptors'>;

/** Bound the sockets of a server, all together and those of each address where that is set; one too many is closed without a word. */
export function capConnections(server: Server, limits: ConnectionLimits): void {
  server.maxConnections = mostConnections(limits);
  if (limits.addressConnections > 0) capEachAddress(server, limits.addressConnections);
}

function capEachAddress(server: Server, most: number): void {
  const open = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const { remoteAddress = '' } = socket;
    const count = open.get(remoteAddress) ?? 0;
    if (count >= most) {
      socket.destroy();
      return;
    }
    open.set(remoteAddress, count + 1);
    socket.once('close', () => {
      const left = (open.get(remoteAddress) ?? 1) - 1;
      if (left > 0) open.set(remoteAddress, left);
      else open.delete(remoteAddress);
    });
  });
}

/** @returns `limits.connections`, or what this process may still open less `limits.reservedDescriptors`; at least 1. */
function mostConnections(limits: ConnectionLimits): number {
  const free = mostDescriptors() - descriptorsInUse();
  return Math.max(1, Math.min(limits.connections, free - limits.reservedDescriptors));
}

/** @returns Infinity where the system does not tell. */
function mostDescriptors(): number {
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
