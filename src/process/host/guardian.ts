/**
 * A small shell that outlives a killed process host and ends the children that the host can no longer end.
 *
 * The host ends its children when the server dies. If both are killed at the same moment, the kernel signals none of
 * the children; so one process waits for the end of a pipe that only the host holds.
 */
import { WAITING_SHELL } from './shell.ts';
import { MARKER_VARIABLE } from './settings.ts';
import type { Starter } from './starter.ts';

/** Keeps one guardian running. */
export interface Guardian {
  /** Start the guardian if none runs; cheap if one does. */
  keep(): void;
}

/** Maximum of starts, for a guardian that cannot start or that something kills. */
const MAX_STARTS = 10;

/**
 * Script of the guardian; `$1` is the common prefix of the markers. It never forks, because the table of processes may
 * be full of those it is to end.
 *
 * Signals that a service manager sends to a whole group are ignored, since the host may still need its guardian then.
 * Once the pipe has ended, it is reopened for writing as well: a read from it then only waits for the timeout, which
 * serves as a pause. A process may fork and end between the listing and the check, so three rounds in a row must find
 * none. The variables of a process are joined by a byte that programs do not use there (not 1, which bash reserves), so
 * that each process takes one comparison, however many variables it has.
 */
const PROGRAM = `
trap '' HUP INT TERM QUIT PIPE
while IFS= read -r; do :; done
{ exec 3<>/proc/self/fd/0; } 2>/dev/null
exec >/dev/null 2>&1
IFS=$'\\2'
quiet=0
for ((round = 0; round < 200 && quiet < 3; round++)); do
  quiet=$((quiet + 1))
  for process in /proc/[0-9]*; do
    variables=()
    mapfile -d '' -t variables <"$process/environ"
    [[ $IFS\${variables[*]} == *"$IFS$1"* ]] && kill -KILL "\${process#/proc/}" && quiet=0
  done
  read -r -t 0.02 -u 3
done
`;

/** Create the guardian of the children whose markers begin with `ownMarkers`. */
export function createGuardian(start: Starter, ownMarkers: string): Guardian {
  // Other systems have no /proc to find children by.
  let startsLeft = process.platform === 'linux' ? MAX_STARTS : 0;
  let isRunning = false;

  return {
    keep() {
      if (isRunning || startsLeft === 0) return;
      startsLeft -= 1;
      try {
        const guardian = start({
          file: WAITING_SHELL.file,
          args: ['--noprofile', '--norc', '-c', PROGRAM, 'gauntlet-guardian', `${MARKER_VARIABLE}=${ownMarkers}`],
          cwd: '/',
          // No marker, so that no sweep ends it as a child. The C locale compares text byte by byte.
          env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' },
          inputDescriptor: 0,
          extraDescriptors: [],
        });
        if (guardian.pid === undefined) return;
        isRunning = true;
        const { input, output, exited } = guardian;
        // It produces no output, and nothing is written to its input, which ends when this process does.
        output.stdout.destroy();
        output.stderr.destroy();
        input?.on('error', () => input.destroy());
        void exited.then(() => {
          isRunning = false;
          input?.destroy();
        });
      } catch {
        // Out of processes or memory: the next frame tries again, and children start without a guardian.
      }
    },
  };
}
