/** `gauntlet console`: prints an address by which a browser signs in to the console, or ends all sign-ins. */
import { tmpdir } from 'node:os';
import type * as z from 'zod';
import { loadSettings } from '../../config/settings.ts';
import type { ConsoleRevoked, ConsoleTicket } from '../../src/wire/console-replies.ts';
import { browserAddress, consoleAddress } from '../console-address.ts';
import { type ClientCommand, requestJson, serverOf } from '../server-client.ts';

/** Print the address, or end what has signed in. @returns The exit code. */
export async function openConsole(command: ClientCommand): Promise<number> {
  const server = serverOf(command);
  const { principal, revoke, url } = command.options;
  if (revoke === true) {
    const request = { method: 'DELETE', path: '/console/credentials' } as const;
    const { revoked } = await requestJson<z.output<typeof ConsoleRevoked>>(server, request);
    process.stdout.write(`Ended ${revoked} ${revoked === 1 ? 'sign-in' : 'sign-ins'}.\n`);
    return 0;
  }
  const body = typeof principal === 'string' ? { principal } : {};
  const request = { method: 'POST', path: '/console/tickets', body } as const;
  const { ticket } = await requestJson<z.output<typeof ConsoleTicket>>(server, request);
  const base = typeof url === 'string' ? server.url.href : addressInSettings(command.environment);
  process.stdout.write(`${consoleAddress(base, ticket)}\n`);
  return 0;
}

function addressInSettings(environment: NodeJS.ProcessEnv): string {
  const settings = loadSettings({ environment: { ...environment, GAUNTLET_WORKSPACE: tmpdir() }, isClient: true });
  return browserAddress(settings, settings.port);
}
