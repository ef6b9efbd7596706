/** Commands that act, read outside, send or signal by every means that a machine commonly has. */

/** What the commands are aimed at. */
export interface Targets {
  /** A folder outside, which holds a file `decoy`. */
  readonly outside: string;
  /** A process outside. */
  readonly processId: number;
  readonly tcpPort: number;
  readonly udpPort: number;
  /** Of a UNIX socket outside. */
  readonly socketPath: string;
  /** Of an abstract UNIX socket. */
  readonly socketName: string;
}

const WRITES = [
  'echo x >T', 'echo x >>T', ': >T', 'echo x >|T', 'echo x 1<>T', 'echo x >&T', 'echo x &>T', 'exec 9>T', 'echo x | tee T',
  'echo x | tee -a T', 'cp /etc/passwd T', 'dd if=/etc/passwd of=T', 'truncate -s 0 T', 'truncate -s 99 T',
  'fallocate -l 99 T', 'shred T', 'rm -f T', 'unlink T', 'mv T T.2', 'mv -f f T', 'ln -f f T', 'ln -sf f T', 'install f T',
  'touch T', 'touch -d 2001-01-01 T', 'touch -h T', 'touch -a T', 'chmod 600 T', 'chmod +x T', 'chown 65534 T', 'chgrp 65534 T',
  'setfattr -n user.a -v b T', 'setfacl -m u:1:r T', 'chattr +i T', 'sed -i s/a/b/ T', 'sed -n "w T" f', 'sort -o T f',
  "awk '{ print > \"T\" }' f", "awk '{ print | \"cat >T\" }' f", 'perl -e \'open F, ">", "T"; print F 1\'', 'perl -i -pe s/a/b/ T',
  "perl -e 'utime 1, 1, \"T\"'", "perl -e 'chmod 0600, \"T\"'", "perl -e 'unlink \"T\"'", "perl -e 'rename \"T\", \"T.2\"'",
  "perl -e 'truncate \"T\", 0'", 'python3 -c \'open("T", "w")\'', "node -e 'fs.writeFileSync(\"T\", \"x\")'",
  'exec 9<T; echo x >/proc/self/fd/9', 'exec 9<T; echo x >/dev/fd/9', 'exec 9<T; touch /proc/self/fd/9',
  'exec 9<T; chmod 600 /proc/self/fd/9', 'echo x >/proc/self/root"T"', 'split -b 1 f T', 'patch T </dev/null', 'flock T touch T',
  'find . -fprint T', 'tar cf T f', 'gzip -k -c f >T', 'git diff --no-index --output=T f g', 'printf x | xxd - T', 'script -c true T',
  'bash -c "echo x >T"', 'sh -c ": >T"', 'env touch T', 'echo T | xargs touch', 'find T -exec touch {} +', 'find T -delete',
  'eval ": >T"', 'trap ": >T" EXIT', 'coproc : >T', '(: >T) &', 'setsid touch T', 'nohup touch T &', 'busybox touch T',
  'umask 0; : >T', 'ulimit -f unlimited; : >T', 'cp /bin/touch $TMPDIR/t; $TMPDIR/t T', 'cp /bin/touch $TMPDIR/t; /lib64/ld-linux-x86-64.so.2 $TMPDIR/t T',
  '/lib64/ld-linux-x86-64.so.2 /bin/touch T', 'PATH=. touch T', 'su -c "touch T"', 'sudo -n touch T', 'unshare -Ur touch T',
  'unshare -Urm bash -c "mount -t tmpfs none .; touch T"', 'bwrap --bind / / touch T', 'nsenter -t 1 -m touch T', 'chroot / touch T',
  'runuser -u root touch T', 'setpriv --reuid=0 touch T', 'newgrp root <<<"touch T"', 'prlimit --fsize=unlimited touch T',
]; // prettier-ignore

const MAKES = [
  ': >N', 'mkdir N', 'mkdir -p N/a', 'mkfifo N', 'mknod N p', 'mknod N c 1 3', 'ln f N', 'ln -s f N', 'cp -r d N', 'touch N',
  'mktemp -p D', 'git init N', 'git -C D init', 'git clone . N', "perl -e 'mkdir \"N\"'", "perl -e 'symlink \"f\", \"N\"'",
  "perl -MSocket -e 'socket S, 1, 1, 0; bind S, sockaddr_un \"N\"'", 'rmdir D/d', 'rm -rf D', 'mv D D.2', 'chmod 700 D', 'touch D',
]; // prettier-ignore

const ELSEWHERE = [
  ': >/tmp/gauntlet-forced', ': >/var/tmp/gauntlet-forced', ': >/dev/shm/gauntlet-forced', ': >~/gauntlet-forced', 'mkdir /run/gauntlet-forced',
  'ipcmk -M 100', 'ipcmk -Q', 'ipcmk -S 1', 'echo "touch /tmp/gauntlet-forced" | at now', 'echo "* * * * * true" | crontab -', 'crontab -r',
  'hostname gauntlet-forced', 'date -s 2001-01-01', 'sysctl -w kernel.hostname=gauntlet-forced', 'echo x >/proc/sys/kernel/hostname',
  'echo x >/proc/sysrq-trigger', 'mount -t tmpfs none /mnt', 'umount /proc', 'swapoff -a', 'dmesg -C', 'keyctl add user a b @u',
  'logger gauntlet-forced', 'wall gauntlet-forced', 'loginctl list-sessions', 'systemctl --no-pager status',
]; // prettier-ignore

const READS = [
  'cat T', 'cat <T', 'mapfile a <T; echo "${a[@]}"', 'echo "$(<T)"', 'read -r a <T; echo "$a"', 'head T', 'dd if=T', 'strings T', 'xxd -p T | xxd -r -p',
  'cp T $TMPDIR/c; cat $TMPDIR/c', 'ln -s T $TMPDIR/c; cat $TMPDIR/c', 'ln T $TMPDIR/c; cat $TMPDIR/c', 'grep -r . D', 'grep -R . link-folder',
  'cat link', 'cat l*', 'cat link-folder/decoy', 'rg -L . .', 'find -L . -type f -exec cat {} +', 'tar cf - T', 'tar chf - link', 'diff f link',
  'sort link', 'awk 1 link', 'sed p link', 'wc -l link; nl link', 'git diff --no-index f T', 'git hash-object --stdin <T; git --no-pager grep --no-index . T',
  '. T', 'bash -n T; bash -v T', 'exec 9<T; cat <&9', 'cat /proc/self/root"T"', 'cd D; cat decoy', 'cd link-folder; cat decoy', 'cat ../outside/decoy',
  'cat /proc/P/environ', 'xargs -0 -n1 </proc/P/environ', 'cat /proc/P/cwd/decoy', 'cat /proc/P/root"T"', 'cat /proc/P/fd/*', 'strings /proc/P/mem',
  'cat /proc/P/task/*/environ', 'ps e -p P', 'ps auxeww', 'for p in /proc/[0-9]*; do cat $p/environ; done', "perl -e 'open F, \"T\"; print <F>'",
  'python3 -c \'print(open("T").read())\'', 'node -e \'console.log(fs.readFileSync("T", "utf8"))\'', 'perl -e \'sysopen F, "T", 0; print <F>\'',
  'cat /etc/shadow /etc/gshadow', 'cat ~/.profile', 'ls -R D; less T; more T; od -c T; base64 T | base64 -d', 'unshare -Ur cat T', 'sudo -n cat T',
  '/lib64/ld-linux-x86-64.so.2 T', 'file T; git config --file T -l; jq -R . T; column T; fold T; tac T; rev T | rev; cut -c1- T; paste T; pr T',
]; // prettier-ignore

const SENDS = [
  'echo x >/dev/tcp/127.0.0.1/TCP', 'echo x >/dev/udp/127.0.0.1/UDP', 'exec 9<>/dev/tcp/127.0.0.1/TCP; echo x >&9', 'echo x >/dev/tcp/localhost/TCP',
  'echo x >SOCKET', 'echo x | nc -w1 127.0.0.1 TCP', 'echo x | nc -u -w1 127.0.0.1 UDP', 'echo x | nc -U SOCKET', 'echo x | socat - UNIX:SOCKET',
  'curl -m 1 http://127.0.0.1:TCP', 'curl -m 1 --unix-socket SOCKET http://a', 'curl -m 1 --abstract-unix-socket NAME http://a', 'wget --timeout=1 -O - http://127.0.0.1:TCP',
  'git ls-remote git://127.0.0.1:TCP/a', 'git ls-remote http://127.0.0.1:TCP/a', 'ssh -p TCP 127.0.0.1', 'telnet 127.0.0.1 TCP', 'openssl s_client -connect 127.0.0.1:TCP',
  "perl -MIO::Socket::INET -e 'IO::Socket::INET->new(PeerAddr => \"127.0.0.1:TCP\")->print(1)'",
  "perl -MIO::Socket::INET -e 'IO::Socket::INET->new(PeerAddr => \"127.0.0.1:UDP\", Proto => \"udp\")->send(1)'",
  "perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Peer => \"SOCKET\")->print(1)'",
  "perl -MSocket -e 'socket S, 1, 1, 0; connect S, pack(\"S a*\", 1, \"\\0NAME\"); syswrite S, 1'",
  "awk 'BEGIN { print 1 |& \"/inet/tcp/0/127.0.0.1/TCP\" }'", "node -e 'net.connect(TCP)'", "node -e 'net.connect(\"SOCKET\")'", "node -e 'net.connect(\"\\0NAME\")'",
  "node -e 'dgram.createSocket(\"udp4\").send(\"x\", UDP)'", 'python3 -c \'import socket; socket.create_connection(("127.0.0.1", TCP)).send(b"x")\'', 'ping -c1 127.0.0.1',
  'getent hosts localhost', 'busybox wget http://127.0.0.1:TCP', 'bash -c "echo x >/dev/tcp/127.0.0.1/TCP"', '(echo x >/dev/tcp/127.0.0.1/TCP) &',
]; // prettier-ignore

const SIGNALS = [
  'kill P', 'kill -0 P', 'kill -9 P', 'kill -STOP P', 'kill -USR1 P', 'kill -- -P', '/bin/kill -9 P', 'command kill -9 P', 'env kill -9 P', "perl -e 'kill 9, P'",
  "node -e 'process.kill(P, 9)'", 'python3 -c \'import os; os.kill(P, 9)\'', 'pkill -9 -f sentinel', 'killall -9 sleep', 'pkill -9 sleep', 'renice 19 P', 'renice -n 5 -p P',
  'ionice -c3 -p P', 'taskset -p 1 P', 'chrt -o -p 0 P', 'chrt -b -p 0 P', 'prlimit --pid P --nofile=10', 'echo 1000 >/proc/P/oom_score_adj', 'echo 1 >/proc/P/clear_refs',
  'echo x >/proc/P/comm', 'echo 0 >/proc/P/mem', 'strace -p P -o /dev/null', 'gdb -p P -batch', 'kill -9 -1', 'kill -9 0', 'kill -9 $PPID', 'timeout -s 9 1 kill -9 P',
  '(kill -9 P) &', 'echo P | xargs kill -9', 'trap "kill -9 P" EXIT', 'fuser -k .', 'skill -9 sleep',
]; // prettier-ignore

/** Commands that change a file or a folder, in the working directory or outside. */
export function writingActs(outside: string): readonly string[] {
  return [...WRITES, ...MAKES].flatMap((act) => [aimed(act, `${outside}/decoy`, outside), aimed(act, 'f', '.')]);
}

/** Every command, aimed. */
export function hostileActs(targets: Targets): readonly string[] {
  const { outside, processId, tcpPort, udpPort, socketPath, socketName } = targets;
  const others = [...ELSEWHERE, ...READS, ...SENDS, ...SIGNALS].map((act) =>
    aimed(act, `${outside}/decoy`, outside)
      .replace(/\bP\b/g, String(processId))
      .replace(/\bTCP\b/g, String(tcpPort))
      .replace(/\bUDP\b/g, String(udpPort))
      .replace(/\bSOCKET\b/g, socketPath)
      .replace(/\bNAME\b/g, socketName),
  );
  return [...writingActs(outside), ...others];
}

function aimed(act: string, file: string, folder: string): string {
  return act.replace(/\bT\b/g, file).replace(/\bN\b/g, `${folder}/new`).replace(/\bD\b/g, folder);
}
