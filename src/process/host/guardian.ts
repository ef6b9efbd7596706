/**
 * A small shell that outlives a killed process host and ends the children that the host can no longer end.
 *
 * The host ends its children when the server dies. Where both are killed in the same moment, nobody is left but
 * processes that the kernel starts no signal for: so one process waits for the end of a pipe that the host alone holds.
 */
import { WAITING_SHELL } from './shell.ts';
import { MARKER_VARIABLE } from './settings.ts';
import type { Starter } from './starter.ts';

/** Keeps one guardian running. */
export interface Guardian {
  /** Start the guardian where none runs; costs nothing where one does. */
  keep(): void;
}

/** A guardian that cannot start, or that somebody kills, is started again so many times. */
const MAX_STARTS = 10;

/**
 * Script of the guardian, with the beginning of the markers as `$1`. It forks nothing: the table of processes may be
 * full of those that it is to end.
 *
 * Signals that a service manager sends to everybody are ignored, since the host may still need its guardian then.
 * The pipe's own end is opened for writing once it has ended: nobody writes there, so that reading from it is a pause.
 * A process may fork and end between the listing and the look at it, hence several rounds that find nobody. The
 * variables of a process are joined by a byte that programs do not put there (not 1, which bash keeps for itself): one
 * comparison a process is quick, however many variables it was given.
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

/** Make the keeper of a guardian for the children whose markers begin with `ownMarkers`. */
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
          // No marker, so that no sweep takes it for a child. In the C locale texts are compared byte by byte.
          env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' },
          inputDescriptor: 0,
          more: [],
        });
        if (guardian.pid === undefined) return;
        isRunning = true;
        const { input, output, exited } = guardian;
        // It says nothing, and its pipe is written to by nobody: the pipe ends when this process does.
        output.stdout.destroy();
        output.stderr.destroy();
        input?.on('error', () => input.destroy());
        void exited.then(() => {
          isRunning = false;
          input?.destroy();
        });
      } catch {
        // A shortage of processes or memory: the next frame tries again, and children start without a guardian.
      }
    },
  };
}
