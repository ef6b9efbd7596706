/**
 * Network access of a sandbox that may reach some hosts: the proxy outside, and the bridge to it inside.
 */
import { realpathSync } from 'node:fs';
import { allowedHosts } from '../proxy/allowed-hosts.ts';
import { openProxy, type ProxyOptions } from '../proxy/proxy.ts';
import type { BwrapOptions, Mount } from './bwrap.ts';

/** Path of the proxy's socket in the sandbox. */
const SOCKET = '/run/gauntlet-proxy';

/** Port on the sandbox's loopback, above the ephemeral range. */
const PORT = 61_128;

/**
 * Bridge that forwards TCP from the sandbox's loopback to the proxy's socket, which is mounted there; programs that
 * bypass it have no network. One side may end and still read; an error on one side ends the other.
 */
const BRIDGE_PROGRAM = `
const { connect, createServer } = require('node:net');
const { pipeline } = require('node:stream');
createServer({ allowHalfOpen: true, noDelay: true }, (program) => {
  const proxy = connect({ path: '${SOCKET}', allowHalfOpen: true });
  pipeline(program, proxy, () => {});
  pipeline(proxy, program, () => {});
}).listen(${PORT}, '127.0.0.1', () => console.log('listening'));`;

/**
 * Script that waits until the bridge listens and then executes the shell. If the bridge fails, the command runs without
 * a network.
 *
 * The bridge has an empty environment, and so no marker of the call: it ends with the sandbox, and no sweep needs to
 * wait for it.
 */
const START_SCRIPT =
  'exec 4< <(exec -c "$0" -e "$1" </dev/null 3<&- 2>/dev/null); read -r -u 4 || ' +
  'echo "gauntlet: the sandbox’s way to the network could not be opened" >&2; exec 4<&-; shift; exec "$@"';

/** Command between bubblewrap's arguments and the shell. */
const BRIDGE_COMMAND: readonly string[] = [
  'bash',
  '--noprofile',
  '--norc',
  '-c',
  START_SCRIPT,
  process.execPath,
  BRIDGE_PROGRAM,
];

/** Options of `openSandboxProxy`. */
export interface SandboxProxyOptions extends Pick<ProxyOptions, 'lookup' | 'onDenied'> {
  /** Lists of hosts, each of which must cover a host. */
  readonly lists: readonly (readonly string[])[];
  /** Absolute path of a folder only for the proxy's sockets. */
  readonly socketFolder: string;
}

/** Mounts, variables and command of a sandbox, while a session's command runs in it. */
export interface EnteredProxy extends Pick<BwrapOptions, 'mounts' | 'variables'> {
  /** Program and arguments that start the shell in the sandbox. */
  readonly command: readonly string[];
  leave(): void;
}

/** The network access of all sandboxes. */
export interface SandboxProxy {
  /** Hosts that can be reached, as the lists spell them. */
  readonly hosts: readonly string[];
  enter(sessionId: string): Promise<EnteredProxy>;
  close(): void;
}

/** Create it. @throws {GauntletError} As `openProxy`. */
export function openSandboxProxy({ lists, socketFolder: folder, ...options }: SandboxProxyOptions): SandboxProxy {
  const allowed = allowedHosts(lists);
  const proxy = openProxy({ ...options, allowed, folder });
  const variables = proxyVariables(allowed.isListed);
  return {
    hosts: allowed.names,
    async enter(sessionId) {
      const { socketPath, leave } = await proxy.enter(sessionId);
      return { mounts: bridgeMounts(socketPath), variables, command: BRIDGE_COMMAND, leave };
    },
    close: () => proxy.close(),
  };
}

/** Mounts that the bridge needs. @param socketPath Absolute path of the session's socket. */
function bridgeMounts(socketPath: string): readonly Mount[] {
  return [
    // Node may lie in /tmp, of which a sandbox has its own.
    { path: realpathSync.native(process.execPath), access: 'read', isFolder: false },
    { path: socketPath, appearsAt: SOCKET, access: 'read', isFolder: false },
  ];
}

/**
 * Environment variables that configure the proxy.
 *
 * @param isOutside Returns true if a loopback address means the machine's; otherwise it is the sandbox's own.
 */
function proxyVariables(isOutside: (host: string) => boolean): Readonly<Record<string, string>> {
  const url = `http://127.0.0.1:${PORT}`;
  const inside = ['localhost', '127.0.0.1', '::1'].filter((host) => !isOutside(host)).join();
  return {
    ...{ HTTP_PROXY: url, HTTPS_PROXY: url, http_proxy: url, https_proxy: url },
    ...{ NO_PROXY: inside, no_proxy: inside },
    // Makes Node's own clients read the other variables.
    NODE_USE_ENV_PROXY: '1',
  };
}
