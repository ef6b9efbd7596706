/**
 * How programs in a sandbox without a network reach the proxy: a small program listens on the sandbox's own
 * loopback and hands everything to the socket that is mounted there. Whoever goes around it finds no network.
 */
import { realpathSync } from 'node:fs';
import type { Mount } from './bwrap.ts';

/** Where the proxy's socket appears in the sandbox. */
const SOCKET = '/run/gauntlet-proxy';
/** On the sandbox's loopback, above what is given out as needed. */
const PORT = 61_128;

/** One side may have said all and still listen; one that breaks takes the other along. */
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
export const BRIDGE_COMMAND: readonly string[] = [
  'bash',
  '--noprofile',
  '--norc',
  '-c',
  START,
  process.execPath,
  PROGRAM,
];

/** What the bridge needs to see. @param socketPath The session's, absolute. */
export function bridgeMounts(socketPath: string): readonly Mount[] {
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
export function proxyVariables(isOutside: (host: string) => boolean): Readonly<Record<string, string>> {
  const url = `http://127.0.0.1:${PORT}`;
  const inside = ['localhost', '127.0.0.1', '::1'].filter((host) => !isOutside(host)).join();
  return {
    ...{ HTTP_PROXY: url, HTTPS_PROXY: url, http_proxy: url, https_proxy: url },
    ...{ NO_PROXY: inside, no_proxy: inside },
    // Node's own clients look for the others only then.
    NODE_USE_ENV_PROXY: '1',
  };
}
