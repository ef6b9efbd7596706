/** Programs whose one purpose is to run another one. */
import type { ProgramRecord } from '../program-record.ts';

/** Programs that run another one. */
export const LAUNCHERS: readonly ProgramRecord[] = [
  { names: 'strace', reads: { alone: '--version -V' }, isLauncher: true, valueOptions: '-o -e -p -s' },
  {
    names: 'sudo',
    reads: { alone: '--version -V' },
    isLauncher: true,
    valueOptions: '-u -g -h -p -C -D -R -T -U --user --group --host --prompt --chdir',
  },
  {
    names: 'parallel',
    reads: { alone: '--version -V' },
    isSupplier: true,
    isLauncher: true,
    valueOptions: '-j -N -I --jobs --colsep --delay',
  },
  {
    names: 'xargs',
    isGnu: true,
    isSupplier: true,
    isLauncher: true,
    valueOptions: '-I -n -P -L -d -a -s -E --arg-file --delimiter --max-args --max-procs --max-lines',
  },
  // -S splits a text into a command, -C goes elsewhere.
  { names: 'env', isGnu: true, isLauncher: true, valueOptions: '-u -C --unset --chdir' },
  { names: 'timeout', isGnu: true, isLauncher: true, valueOptions: '-k -s --kill-after --signal' },
  { names: 'nice', isGnu: true, isLauncher: true, valueOptions: '-n --adjustment' },
  { names: 'nohup chroot', isGnu: true, isLauncher: true },
  { names: 'stdbuf', isGnu: true, isLauncher: true, valueOptions: '-i -o -e' },
  // -o writes a file.
  { names: 'time', isLauncher: true, valueOptions: '-f -o' },
  { names: 'doas', isLauncher: true, valueOptions: '-u -C' },
  {
    names:
      'su pkexec chrt taskset setsid busybox toybox ltrace script unshare nsenter runuser setpriv capsh ' +
      'systemd-run start-stop-daemon cgexec firejail bwrap proxychains entr caffeinate unbuffer numactl ' +
      'catchsegv valgrind hyperfine faketime fakeroot dbus-run-session xvfb-run direnv dotenv dotenvx ' +
      'cross-env setarch linux32 linux64 i386 x86_64 proot gosu su-exec tini dumb-init choom prlimit ' +
      'cpulimit eatmydata torsocks proxychains4 rlwrap rr op doppler aws-vault envchain torify tsocks retry ' +
      'chamber sops aa-exec runcon run0 sg schroot systemd-nspawn systemd-inhibit lxc-attach flatpak-spawn ' +
      'distrobox-enter dbus-launch sem ts tsp daemonize daemon s6-setuidgid setuidgid chpst softlimit ' +
      'envdir envuidgid setlock logsave chronic ifne pee mispipe annotate-output autoexpect memusage ' +
      'uftrace heaptrack fakechroot wine',
    isLauncher: true,
  },
  { names: 'ionice', isLauncher: true, valueOptions: '-c -n -p' },
  { names: 'watch', isLauncher: true, valueOptions: '-n --interval' },
  { names: 'flock', isLauncher: true, valueOptions: '-w -E --timeout' },
  { names: 'run-parts', isLauncher: true, hiddenText: 'always' },
];
