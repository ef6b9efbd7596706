import { ShellLine } from '../../../src/shell/shell-line.ts';
import { describe, expect, test } from 'vitest';
import { shellMatcher } from '../../../src/shell/matcher.ts';
import { suggestShellSpecs } from '../../../src/shell/suggest.ts';

const covers = (command: string, ...specs: string[]) =>
  shellMatcher(new ShellLine(command)).covers(specs) !== undefined;
const hits = (command: string, ...specs: string[]) =>
  shellMatcher(new ShellLine(command)).hits(specs, 'deny') !== undefined;

describe('the grammar of specs', () => {
  test('plain text is exact, and blanks are one', () => {
    expect(covers('npm  run   build', 'npm run build')).toBe(true);
    expect(covers('npm run build --watch', 'npm run build')).toBe(false);
  });

  test('a prefix ends at a word', () => {
    expect(covers('npm run build', 'npm run:*')).toBe(true);
    expect(covers('npm run', 'npm run:*')).toBe(true);
    expect(covers('npm runner', 'npm run:*')).toBe(false);
    expect(hits('lsof -x', 'ls:*')).toBe(false);
  });

  test('a star stands for anything within one part', () => {
    expect(covers('npm run build', 'npm run *')).toBe(true);
    expect(covers('npm run', 'npm run *')).toBe(true);
    expect(hits('lsof', 'ls*')).toBe(true);
    expect(covers('npm run a && rm x', 'npm run *')).toBe(false);
    expect(covers('docker compose up', 'docker * up')).toBe(true);
  });
});

describe('an allow rule', () => {
  test('needs every part covered, or only reading', () => {
    expect(covers('npm test && ls', 'npm test:*')).toBe(true);
    expect(covers('npm test && rm x', 'npm test:*')).toBe(false);
    expect(covers('npm test; touch a', 'npm test:*', 'touch:*')).toBe(true);
    expect(covers('npm test $(rm x)', 'npm test:*')).toBe(false);
  });

  const uncovered = [
    'npm test > f',
    'npm test >> f',
    'FOO=1 npm test',
    'PATH=. npm test',
    'npm test | tee f',
    'npm() { rm x; }; npm test',
    'npm test &> f',
    'sudo npm test',
    'env npm test',
    'xargs npm test',
    'bash -c "npm test"',
    './npm test',
    '/tmp/npm test',
    'npm test <(rm x)',
    '$x npm test',
    'npm test; $y',
    'npm test &&',
    'coproc npm test',
    'exec npm test',
    'eval npm test',
    'command npm test',
    'npm "$x"',
  ];
  test.each(uncovered)('does not cover %s', (command) => {
    expect(covers(command, 'npm test:*')).toBe(false);
  });

  test.each([
    'timeout 5 npm test',
    'nice npm test',
    'time npm test',
    'stdbuf -oL npm test',
    'n\\pm test',
    '"npm" test',
    '/usr/bin/npm test',
  ])('sees through %s', (command) => {
    expect(covers(command, 'npm test:*')).toBe(true);
  });

  test('a prefix never covers an option that runs, deletes or writes elsewhere', () => {
    for (const command of ['find . -delete', 'find . -exec rm {} +', 'find . "$x"', 'find . -de\\lete'])
      expect(covers(command, 'find:*'), command).toBe(false);
    for (const command of [
      'git -C x push',
      'git -c a=b push',
      'git --exec-path=x push',
      'git push --receive-pack=sh',
      'cd x && git push',
    ]) {
      expect(covers(command, 'git:*'), command).toBe(false);
    }
    expect(covers('git push', 'git push:*')).toBe(true);
    expect(covers('git commit -C HEAD', 'git commit:*')).toBe(true);
    expect(covers('find . -delete', 'find . -delete')).toBe(true);
  });

  test.each([
    ["gsed -i 's/a/b/' f", 'gsed:*'],
    ['sed -fscript f', 'sed:*'],
    ['mawk -f x f', 'mawk:*'],
    ['nawk -f x f', 'nawk:*'],
    ['mawk -W exec x', 'mawk:*'],
    ['gawk -o f', 'gawk:*'],
    ['gfind . -delete', 'gfind:*'],
    ['date -s 12:00', 'date:*'],
    ['gdate --set=12:00', 'gdate:*'],
    ['date 010203042026', 'date:*'],
    ['uniq a b', 'uniq:*'],
    ['uniq a b', 'uniq a:*'],
    ['uniq -f 1 a b', 'uniq -f:*'],
    ['guniq a b', 'guniq:*'],
    ['xxd a b', 'xxd:*'],
    ['xxd -r a b', 'xxd -r:*'],
    ['file -C -m x', 'file:*'],
    ['journalctl --vacuum-time=1s', 'journalctl:*'],
    ['journalctl --rotate', 'journalctl:*'],
    ['less +!sh f', 'less:*'],
    ['less -o log f', 'less:*'],
    ['bat --pager=sh f', 'bat:*'],
    ['batcat --pager sh f', 'batcat:*'],
    ['bat cache --clear', 'bat:*'],
    ['sort -o f f', 'sort:*'],
    ['gsort --compress-program=sh f', 'gsort:*'],
    ['rg --pre sh x', 'rg:*'],
    ['tree -o f', 'tree:*'],
    ['dmesg -C', 'dmesg:*'],
    ['hostname x', 'hostname:*'],
    ['sysctl -w a=1', 'sysctl:*'],
    ['yq -i .a=1 f', 'yq:*'],
    ['sort -k 1 -o f', 'sort -k:*'],
    ['tee $x', 'tee:*'],
    ['tee -a "$x"', 'tee:*'],
    ['xargs -I $x ls', 'xargs:*'],
    ['xargs -I $x ls', 'xargs -I:*'],
    ['gxargs -I $x ls', 'gxargs:*'],
    ['uniq $x', 'uniq:*'],
  ])('%s is not covered by %s', (command, spec) => {
    expect(covers(command, spec)).toBe(false);
  });

  test.each([
    ["gsed -i 's/a/b/' f", 'gsed -i:*'],
    ["sed -n '1,5p' f", 'sed:*'],
    ["awk -F: '{print $1}' f", 'awk:*'],
    ["gawk --field-separator=: '{print}' f", 'gawk:*'],
    ['date -s 12:00', 'date -s:*'],
    ['date -s 12:00', 'date -s 12:00'],
    ['date -d yesterday +%F', 'date:*'],
    ['sort -o out in', 'sort -o:*'],
    ['uniq a b', 'uniq a b'],
    ['ls --no-such-option x', 'ls:*'],
    ['cat /etc/hosts', 'cat:*'],
    ['tar xf a.tar', 'tar:*'],
    ['gzip a', 'gzip:*'],
    ['mktemp -d', 'mktemp:*'],
    ['tee f', 'tee:*'],
    ['xargs -I% ls %', 'xargs:*'],
    ['crontab -l', 'crontab:*'],
    ['netstat -t', 'netstat:*'],
    ['systemctl restart x', 'systemctl:*'],
    ['make build', 'make:*'],
    ['python x.py', 'python:*'],
    ['touch a', 'touch:*'],
  ])('%s is covered by %s', (command, spec) => {
    expect(covers(command, spec)).toBe(true);
  });

  test('a quoted blank is no word boundary', () => {
    expect(covers('"npm test" x', 'npm test:*')).toBe(false);
    expect(covers('git "push --force"', 'git push --force')).toBe(false);
  });
});

describe('a deny rule', () => {
  const denied = [
    'rm x',
    'rm',
    'rm -rf /',
    'ls; rm x',
    'ls && rm x',
    'ls | rm x',
    'ls & rm x',
    'ls\nrm x',
    '(rm x)',
    '{ rm x; }',
    '! rm x',
    'if true; then rm x; fi',
    'for i in a; do rm x; done',
    'while rm x; do :; done',
    'f() { rm x; }; f',
    'echo $(rm x)',
    'echo `rm x`',
    'cat <(rm x)',
    'echo "${x:-$(rm y)}"',
    'x=$(rm y)',
    'cat <<E\n$(rm x)\nE',
    '\\rm x',
    'r\\m x',
    '"rm" x',
    "'rm' x",
    'r""m x',
    "$'rm' x",
    "$'\\x72m' x",
    '/bin/rm x',
    '/usr/bin/rm x',
    '../bin/rm x',
    'FOO=1 rm x',
    '> f rm x',
    'sudo rm x',
    'sudo -u bob rm x',
    'doas rm x',
    'env rm x',
    'env A=b rm x',
    'env -i rm x',
    "env -S 'rm x'",
    'timeout 5 rm x',
    'timeout -k 1 5 rm x',
    'nice -n 5 rm x',
    'ionice -c3 rm x',
    'nohup rm x',
    'nohup rm x &',
    'setsid rm x',
    'stdbuf -oL rm x',
    'time rm x',
    '/usr/bin/time -v rm x',
    'command rm x',
    'builtin rm x',
    'exec rm x',
    'watch rm x',
    "watch 'rm x'",
    'busybox rm x',
    'strace -f rm x',
    'chroot / rm x',
    'flock f rm x',
    "flock f -c 'rm x'",
    'parallel rm ::: x',
    'xargs rm',
    'ls | xargs rm',
    'ls | xargs -I{} rm {}',
    'ls | xargs -n1 -P4 rm -f',
    "bash -c 'rm x'",
    'bash -lc "ls; rm x"',
    'sh -c \'bash -c "rm x"\'',
    'zsh -c "rm x"',
    'dash -c "rm x"',
    "eval 'rm x'",
    'eval rm x',
    'eval "$(echo hi); rm x"',
    "trap 'rm x' EXIT",
    'coproc rm x',
    'coproc N { rm x; }',
    'find . -exec rm {} \\;',
    'find . -execdir rm {} +',
    'find . -ok rm {} \\;',
    'fd -x rm',
    "sudo bash -c 'rm x'",
    'sudo env A=1 timeout 5 nice rm x',
    'x=rm; $x y',
    'for c in rm ls; do $c x; done',
    'rm x &&',
    'rm "x',
    "su -c 'rm x'",
    'case a in a) rm x;; esac',
    'until rm x; do :; done',
    '[[ -f $(rm x) ]]',
    'echo $(( $(rm x) ))',
    'time -p rm x',
    'script -c "rm x" f',
    'unshare rm x',
    'ssh host rm x',
    "ssh host 'rm x'",
    'git -c alias.x="!rm y" x',
    'awk \'BEGIN{system("rm x")}\'',
    'echo x | sudo tee f; rm x',
    'ls \\\n; rm x',
    'r\\\nm x',
    '{rm,x}',
    '{,rm} x',
  ];
  test.each(denied)('finds rm in %j', (command) => {
    expect(hits(command, 'rm:*')).toBe(true);
  });

  test.each([
    'ls rm',
    'echo rm',
    'cat rm.txt',
    'grep rm f',
    'echo "rm x"',
    'npm run rm',
    'git rm x',
    'rmdir x',
    '# rm x',
  ])('leaves %s alone', (command) => {
    expect(hits(command, 'rm:*')).toBe(false);
  });

  test.each([
    'git push',
    'git -C x push',
    'git -c a=b push --force',
    'git --git-dir=x push',
    'git --no-pager push',
    '/usr/bin/git push',
    'cd x && git push',
    'env git -C x push',
    'git --git-dir x --work-tree y push',
  ])('finds the sub-command in %s', (command) => {
    expect(hits(command, 'git push:*')).toBe(true);
  });

  test.each([
    ["gsed -i 's/a/b/' f", 'sed -i:*'],
    ['mawk x f', 'awk:*'],
    ['gcc-12 a.c', 'gcc:*'],
    ['clang++-15 a.cc', 'clang++:*'],
    ['grm x', 'rm:*'],
    ['nodejs x.js', 'node:*'],
    ['mkfs.ext4 x', 'mkfs:*'],
    ['pip3.12 install x', 'pip install:*'],
  ])('knows %s by another name', (command, spec) => {
    expect(hits(command, spec)).toBe(true);
  });

  test.each([
    ['echo install x | xargs pip', 'pip install:*'],
    ['echo install x | xargs pip3.12', 'pip install:*'],
    ['echo install x | xargs sudo apt-get', 'apt-get install:*'],
    ['echo x install | xargs -n1 poetry', 'poetry install:*'],
    ['echo publish | xargs -I{} cargo {} --dry-run', 'cargo publish:*'],
    ['echo publish | xargs -I % cargo %', 'cargo publish'],
    ['xargs dotnet <<< "nuget push x"', 'dotnet nuget push:*'],
    ["printf '%s\\n' install | gxargs brew", 'brew install:*'],
    ["bash -c 'echo install x | xargs foo'", 'foo install:*'],
    ['parallel foo ::: install', 'foo install:*'],
    ['parallel foo {} x ::: list install', 'foo install:*'],
    ['echo rm x | xargs sudo', 'rm:*'],
    ['echo -rf x | xargs rm', 'rm -rf:*'],
  ])('holds for words that come by the input: %s', (command, spec) => {
    expect(hits(command, spec)).toBe(true);
  });

  test.each([
    ['cat f | xargs pip', 'pip install:*'],
    ['cat f | xargs pip', 'pip install'],
    ['cat f | xargs -n1 unheard-of', 'unheard-of install:*'],
    ['cat f | xargs -I{} go {} ./...', 'go run:*'],
    ['cat f | xargs -I% go %', 'go run'],
    ['cat f | sudo xargs -0 poetry', 'poetry publish:*'],
    ['cat f | parallel brew', 'brew install:*'],
    ['cat f | parallel brew {1} x', 'brew install:*'],
    ['parallel brew :::: f', 'brew install:*'],
    ['find "$d" -exec pip {} x \\;', 'pip install:*'],
    ['fd . -x pip {} x', 'pip install:*'],
    ['pip $(cat f)', 'pip install'],
    ['cat f | xargs rm', 'rm -rf:*'],
    ['find publish -maxdepth 0 | xargs npm', 'npm publish:*'],
    ['find publish -maxdepth 0 -print0 | xargs -0 npm', 'npm publish:*'],
    ['find -L publish -print0 | xargs -0 npm', 'npm publish:*'],
    ['find publish -maxdepth 0 | xargs -I{} npm {}', 'npm publish:*'],
    ["find publish -maxdepth 0 | xargs -d '\\n' npm", 'npm publish:*'],
    ['find . | xargs -n1 -d/ npm', 'npm publish:*'],
    ['find . -print0 | xargs -0 -d / -n1 npm', 'npm publish:*'],
    ["find . -name '* publish' | xargs -n1 npm", 'npm publish:*'],
    ["find . -name '*.pyc' | xargs -n1 npm", 'npm publish:*'],
    ['find . | xargs npm -0', 'npm publish:*'],
    ['find . | parallel npm {/}', 'npm publish:*'],
    ['find . | xargs rm', 'rm -rf:*'],
    ['find publish -maxdepth 0 -exec npm {} \\;', 'npm publish:*'],
  ])('may turn out to be what a rule is about: %s', (command, spec) => {
    expect(hits(command, spec)).toBe(false);
    expect(shellMatcher(new ShellLine(command)).mayHit?.([spec])).toBe(spec);
  });

  test.each([
    ['cat f | xargs pip download', 'pip install:*'],
    ['cat f | xargs -I{} pip download {}', 'pip install:*'],
    ["find . -name '*.pyc' | xargs rm", 'rm -rf:*'],
    ["find . -name '*.pyc' -exec rm {} +", 'rm -rf:*'],
    ['find src -exec pip {} x \\;', 'pip install:*'],
    ['find . -type f -print0 | xargs -r0 -n 5 rm', 'rm -rf:*'],
    ["find . -type f | xargs -d '\\n' rm", 'rm -rf:*'],
    ['find src -type f | xargs -I{} rm {}', 'rm -rf:*'],
    ['find . -print0 | xargs -0 -n1 npm', 'npm publish:*'],
    ['find . -type f | xargs git add', 'git push:*'],
    ['cat f | xargs touch', 'pip install:*'],
    ['parallel pip download ::: x', 'pip install:*'],
  ])('is not asked about for a rule that it cannot meet: %s', (command, spec) => {
    const matcher = shellMatcher(new ShellLine(command));
    expect([matcher.isUnparsable, matcher.hits([spec], 'deny'), matcher.mayHit?.([spec])]).toEqual([
      false,
      undefined,
      undefined,
    ]);
  });

  test('a program that cannot be known is unparsable', () => {
    for (const command of ['$x y', '$(cat f) x', '"$x" y', '`cat f`'])
      expect(shellMatcher(new ShellLine(command)).isUnparsable, command).toBe(true);
  });

  const hidden = [
    'eval "$x"',
    'eval $x',
    'sudo $x',
    'sudo -u bob $x',
    'sudo env A=b "$x"',
    'timeout 5 $x',
    'nohup "$c" x',
    'xargs $x',
    'find . -exec $x {} \\;',
    'find . -exec {} \\;',
    'xargs -I{} {} x',
    'cat f | xargs sudo',
    'cat f | xargs timeout 5',
    'cat f | xargs git',
    'cat f | parallel',
    "xargs -I% sh -c '% x'",
    'bash -c "$x"',
    "bash -c '$x'",
    'ssh h "$x"',
    'trap "$x" EXIT',
    'watch "$x"',
    'exec $x',
    'bash $x',
  ];
  test.each(hidden)('cannot be held against %s', (command) => {
    expect(shellMatcher(new ShellLine(command)).isUnparsable).toBe(true);
  });

  test.each([
    "bash -c 'npm test'",
    "sh -ec 'cd x && npm run build'",
    'sudo -u "$U" touch x',
    'timeout "$T" npm test "$f"',
    'env A="$x" npm test',
    'bash script.sh "$x"',
    'bash -e x.sh',
    'npx eslint .',
    'sudo cp x .',
    'ssh "$h" uptime',
    'git -C "$d" commit -m "$m"',
    'bash -c \'touch "$1"\' _ "$f"',
    'ls | xargs -I{} cp {} "$d"',
  ])('can be held against %s', (command) => {
    const matcher = shellMatcher(new ShellLine(command));
    expect([matcher.isUnparsable, matcher.hits(['npm publish:*', 'git push:*'], 'deny')]).toEqual([false, undefined]);
  });
});

describe('suggestions', () => {
  test.each([
    ['touch a', ['touch:*']],
    ['cat /etc/hosts', ['cat:*']],
    ['npm run build -- --watch', ['npm run build:*']],
    ['git commit -m x', ['git commit:*']],
    ['ls && touch a && mkdir b', ['touch:*', 'mkdir:*']],
    ['timeout 5 npm test', ['timeout 5 npm test']],
    ['python x.py', ['python x.py']],
    ['rm -rf build', ['rm -rf build']],
    ['grm -rf build', ['grm -rf build']],
    ['pip3.12 install x', ['pip3.12 install:*']],
    ['yum install x', ['yum install:*']],
  ])('%s gives %j', (command, specs) => {
    expect(suggestShellSpecs(new ShellLine(command))).toEqual(specs);
  });

  test.each(['python', 'bash', 'echo a > f', '$x y', 'ls &&', 'sudo $x', 'bash -c "rm $x"', 'touch $(rm x) | sh'])(
    '%s gives none',
    (command) => {
      expect(suggestShellSpecs(new ShellLine(command))).toEqual([]);
    },
  );

  test('no suggestion is the bare prefix of an interpreter or wrapper', () => {
    for (const program of [
      'bash',
      'sh',
      'python3',
      'node',
      'sudo',
      'env',
      'xargs',
      'eval',
      'timeout',
      'nohup',
      'ssh',
      'find',
      'rm',
      'npx',
      'perl',
      'systemd-run',
      'unbuffer',
      'tmux',
      'tsx',
      'java',
      'pwsh',
      'nix-shell',
      'psql',
      'cross-env',
      'sshpass',
      'ansible',
      'watchexec',
      'conda',
    ]) {
      expect(suggestShellSpecs(new ShellLine(`${program} a b`)), program).not.toContain(`${program}:*`);
    }
  });
});
