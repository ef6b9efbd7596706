/** Programs whose only purpose is to run another one. */
import type { ProgramRecord } from '../program-record.ts';

/** Programs that run another one. */
export const LAUNCHERS: readonly ProgramRecord[] = [
  { names: 'strace', reads: { alone: '--version -V' }, isLauncher: true, valueOptions: '-o -e -p -s' },
  {
    names: 'sudo',
    reads: { alone: '--version -V' },
    isLauncher: true,
    valueOptions: '-u -g -h -p -C -D -R -T -U --user --group --host --prompt --chdir',
    hasUnrelatedWriteOptions: true,
    warnings: [{ words: /./, sentence: 'Runs as another user' }],
    isRaisingRights: true,
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
    wraps: {
      flags:
        '-0 -r -t -x -a= -d= -E= -I= -L= -n= -P= -s= --null --no-run-if-empty --verbose --exit --arg-file= --delimiter= --max-args= --max-procs= --max-chars= --max-lines? --replace? --show-limits',
    },
    actingOptions: /^$/,
    hasUnrelatedWriteOptions: true,
  },
  // -S splits text into a command, -C changes the directory.
  {
    names: 'env',
    isGnu: true,
    isLauncher: true,
    valueOptions: '-u -C --unset --chdir',
    wraps: { flags: '-i -0 -u= --ignore-environment --null --unset=' },
    actingOptions: /^(?:-S.*|--split-string.*|-C.*|--chdir.*)$/,
    hasUnrelatedWriteOptions: true,
  },
  {
    names: 'timeout',
    isGnu: true,
    isLauncher: true,
    valueOptions: '-k -s --kill-after --signal',
    wraps: {
      flags: '-v -f -p -k= -s= --preserve-status --foreground --kill-after= --signal= --verbose',
      isTransparent: true,
    },
    leadingOperands: 1,
  },
  {
    names: 'nice',
    isGnu: true,
    isLauncher: true,
    valueOptions: '-n --adjustment',
    wraps: { flags: '-n= --adjustment=', hasNumbers: true, isTransparent: true },
  },
  { names: 'nohup', isGnu: true, isLauncher: true },
  {
    names: 'stdbuf',
    isGnu: true,
    isLauncher: true,
    valueOptions: '-i -o -e',
    wraps: { flags: '-i= -o= -e= --input= --output= --error=', isTransparent: true },
  },
  { names: 'chroot', isGnu: true, isLauncher: true, leadingOperands: 1 },
  // -o writes a file.
  {
    names: 'time',
    isLauncher: true,
    valueOptions: '-f -o',
    wraps: { flags: '-p -v -q -f= --portability --verbose --format= --quiet', isTransparent: true },
  },
  {
    names: 'doas',
    isLauncher: true,
    valueOptions: '-u -C',
    warnings: [{ words: /./, sentence: 'Runs as another user' }],
    isRaisingRights: true,
  },
  {
    names: 'su pkexec',
    isLauncher: true,
    warnings: [{ words: /./, sentence: 'Runs as another user' }],
    isRaisingRights: true,
  },
  { names: 'ionice', isLauncher: true, valueOptions: '-c -n -p' },
  { names: 'chrt taskset gosu su-exec', isLauncher: true, leadingOperands: 1 },
  {
    names:
      'setsid busybox toybox ltrace unshare nsenter runuser setpriv capsh systemd-run start-stop-daemon ' +
      'cgexec firejail bwrap proxychains entr caffeinate unbuffer numactl catchsegv valgrind hyperfine ' +
      'faketime fakeroot dbus-run-session xvfb-run direnv dotenv dotenvx cross-env setarch linux32 linux64 ' +
      'i386 x86_64 proot tini dumb-init choom prlimit cpulimit eatmydata torsocks proxychains4 rlwrap rr op ' +
      'doppler aws-vault envchain torify tsocks retry chamber sops aa-exec runcon run0 sg schroot ' +
      'systemd-nspawn systemd-inhibit lxc-attach flatpak-spawn distrobox-enter dbus-launch sem tsp ' +
      'daemonize daemon s6-setuidgid setuidgid chpst softlimit envdir envuidgid setlock logsave ifne pee ' +
      'mispipe annotate-output autoexpect memusage uftrace heaptrack fakechroot wine',
    isLauncher: true,
  },
  { names: 'watch', isLauncher: true, valueOptions: '-n --interval', restartable: /^/, isJoiner: true },
  { names: 'flock', isLauncher: true, valueOptions: '-w -E --timeout', leadingOperands: 1 },
  { names: 'script', isLauncher: true, writesOperands: 'last', readsOperands: 'others' },
  { names: 'run-parts', isLauncher: true, hiddenText: 'always' },
  { names: 'ts chronic', isLauncher: true, suggests: 'nothing' },
];
