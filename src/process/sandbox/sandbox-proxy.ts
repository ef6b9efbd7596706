/**
 * The way out of a sandbox that may reach some hosts: the proxy at one end, the bridge to it at the other.
 */
import { realpathSync } from 'node:fs';
import { allowedHosts } from '../proxy/allowed-hosts.ts';
import { openProxy, type ProxyOptions } from '../proxy/proxy.ts';
import type { BwrapOptions, Mount } from './bwrap.ts';

/** Where the proxy's socket appears in the sandbox. */
const SOCKET = '/run/gauntlet-proxy';

/** On the sandbox's loopback, above what is given out as needed. */
const PORT = 61_128;

/**
 * Forwards TCP from the sandbox's own loopback to the proxy's socket, which is mounted there: programs that go around
 * it find no network. One side may end and still listen; a broken side ends the other.
 */
const PROGRAM = `
const { connect, createServer } = require('node:net');
const { pipeline } = require('node:stream');
createServer({ allowHalfOpen: true, noDelay: true }, (program) => {
  const proxy = connect({ path: '${SOCKET}', allowHalfOpen: true });
  pipeline(program, proxy, () => {});
  pipeline(proxy, program, () => {});
}).listen(${PORT}, '127.0.0.1', () => console.log('listening'));`;

/**
 * Waits until the bridge listens, then becomes the shell. Without it a command still runs, without a network.
 *
 * The bridge has no environment, and so not the call's marker: it ends with the sandbox, and nobody need wait for it.
 */
const START =
  'exec 4< <(exec -c "$0" -e "$1" </dev/null 3<&- 2>/dev/null); read -r -u 4 || ' +
  'echo "gauntlet: the sandbox’s way to the network could not be opened" >&2; exec 4<&-; shift; exec "$@"';

/** What stands between bubblewrap's arguments and the shell. */
const BRIDGE_COMMAND: readonly string[] = ['bash', '--noprofile', '--norc', '-c', START, process.execPath, PROGRAM];

/** How to make it. */
export interface SandboxProxyOptions extends Pick<ProxyOptions, 'limits' | 'lookup' | 'onDenied'> {
  /** Every one must cover a host. */
  readonly lists: readonly (readonly string[])[];
  /** Absolute; for the proxy's sockets alone. */
  readonly socketFolder: string;
}

/** What a sandbox is made with, while a session's command runs in it. */
export interface EnteredProxy extends Pick<BwrapOptions, 'mounts' | 'variables'> {
  /** Program and arguments that start the shell in the sandbox. */
  readonly command: readonly string[];
  leave(): void;
}

/** The way out of all sandboxes. */
export interface SandboxProxy {
  /** What can be reached, as the lists have it. */
  readonly hosts: readonly string[];
  enter(sessionId: string): Promise<EnteredProxy>;
  close(): void;
}

/** Make it. @throws {GauntletError} As `openProxy`. */
export function openSandboxProxy({ lists, socketFolder: folder, ...options }: SandboxProxyOptions): SandboxProxy {
  const allowed = allowedHosts(lists);
  const proxy = openProxy({ ...options, allowed, folder });
  const variables = proxyVariables(allowed.mentions);
  return {
    hosts: allowed.names,
    async enter(sessionId) {
      const { socketPath, leave } = await proxy.enter(sessionId);
      return { mounts: bridgeMounts(socketPath), variables, command: BRIDGE_COMMAND, leave };
    },
    close: () => proxy.close(),
  };
}

/** What the bridge needs to see. @param socketPath The session's, absolute. */
function bridgeMounts(socketPath: string): readonly Mount[] {
  return [
    // It may lie in /tmp, of which a sandbox has its own.
    { path: realpathSync.native(process.execPath), access: 'read', isFolder: false },
    { path: socketPath, appearsAt: SOCKET, access: 'read', isFolder: false },
  ];
}

/**
 * What programs look for a proxy in.
 *
 * @param isOutside Whether an address of the loopback means the machine's; otherwise it is the sandbox's own.
 */
function proxyVariables(isOutside: (host: string) => boolean): Readonly<Record<string, string>> {
  const url = `http://127.0.0.1:${PORT}`;
  const inside = ['localhost', '127.0.0.1', '::1'].filter((host) => !isOutside(host)).join();
  return {
    ...{ HTTP_PROXY: url, HTTPS_PROXY: url, http_proxy: url, https_proxy: url },
    ...{ NO_PROXY: inside, no_proxy: inside },
    // Node's own clients look for the others only then.
    NODE_USE_ENV_PROXY: '1',
  };
}
