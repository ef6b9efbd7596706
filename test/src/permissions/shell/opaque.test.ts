/** Text that a command runs and does not show may be what a rule about commands forbids. */
import { describe, expect, test } from 'vitest';
import type { PermissionMode, RuleSet } from '../../../../src/contract/permission-context.ts';
import type { Tool } from '../../../../src/contract/tool.ts';
import { createPermissionContext } from '../../../../src/permissions/context.ts';
import { decidePermission } from '../../../../src/permissions/decide.ts';
import { DEFAULT_LIMITS } from '../../../../config/limits.ts';
import { createLocatePath } from '../../../../src/files/scope.ts';
import { shellToolsIn } from '../../../helpers/shell-tools.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { sessionContextIn, toolUseContextIn } from '../../../helpers/tool-use-context.ts';

const root = temporaryFolder();
const bash = shellToolsIn(root).tools.bash as unknown as Tool;
const locate = createLocatePath({ protectedPaths: [], limits: DEFAULT_LIMITS });

async function decide(command: string, rules: Partial<RuleSet>, mode: PermissionMode = 'bypassPermissions') {
  const permissions = createPermissionContext({ mode, rules: { session: rules }, isBypassAvailable: true });
  const context = toolUseContextIn(root, { session: sessionContextIn(root, { permissions }) });
  return decidePermission({ tool: bash, input: { command }, observable: { command }, context, locate });
}
const deny = ['Bash(terraform:*)'];
const behavior = async (...question: Parameters<typeof decide>) => (await decide(...question)).behavior;

const opaque = [
  'bash script.sh',
  './build.sh',
  'sub/tool x',
  'timeout 5 ./build.sh',
  'sudo -u bob ./build.sh',
  'source env.sh && ls',
  '. /dev/fd/3 3< f',
  'source <(cat f)',
  'bash <(cat f)',
  'cat x | sh',
  'cat x | sudo bash',
  'cat x | python3 -',
  'cat x | perl',
  'bash < f',
  'python3 < f',
  'python3 x.py -c 1',
  'python3.11 -u x.py',
  'node x.js',
  'perl x.pl',
  'perl -MFile x.pl',
  'ruby x.rb',
  'awk -f p.awk f',
  'mawk -f p.awk f',
  'sed -f s f',
  'gsed -f s f',
  'vim -S s',
  'make -f-',
  'make -f <(cat f)',
  'make test',
  'npm run x',
  'npm test',
  'at now < f',
  'at -f f now',
  'crontab f',
  "sqlite3 db '.shell ls'",
  "sqlite3 db '.system ls'",
  "sqlite3 -cmd '.sh ls' db 'select 1'",
  'sqlite3 db < f',
  '/lib64/ld-linux-x86-64.so.2 ./x',
  "[[ -v 'a[$(touch m)]' ]]",
  "test -v 'a[$(touch m)]'",
  "printf -v 'a[$(touch m)]' x",
  'echo $((x))',
  'x=$(cat f); [[ $x -eq 1 ]]',
  'echo ${x@P}',
  'declare -n r=x',
  'echo ${!x}',
  "let 'a[$(touch m)]=1'",
  'let x',
  'let i++',
  'let "i = x + 1"',
  'test -v "$x"',
  '[ -v "$x" ]',
  'printf -v "$x" a',
  'a[$x]=1',
  'a=([$x]=1)',
  'enable -f ./x.so x',
  "NODE_OPTIONS='-r ./x' node --version",
  "LESSOPEN='|cat %s' less f",
  'PATH=.:$PATH ls',
  'export PATH=.; ls',
  'LD_PRELOAD=./x.so ls',
  'BASH_ENV=f bash -c ls',
  "ssh -o ProxyCommand=x h 'ls'",
  "ssh -o 'ProxyCommand x y' h ls",
  'ssh h < f',
  'git clone ext::sh',
  'git -c core.hooksPath=. commit',
  'find . -exec ./x {} +',
  'find . -exec bash x.sh {} +',
  'find . -exec sh -c \'"$1"\' _ {} +',
  'xargs -a f sh -c',
  'busybox sh x.sh',
  'ash x.sh',
  "bash -c './x'",
  'eval "$x"',
  'p=$(cat f); $p',
];

const shown = [
  'rm x',
  'git push',
  'ls',
  'mytool --x a/b',
  'npm install',
  'npx eslint src/a.ts',
  'python3 -c "print(1)"',
  'python3 -m pytest tests/x.py',
  "python3 - <<'E'\nprint(1)\nE",
  "perl -pe 's/a/b/' f",
  "awk '{print $1}' f > g",
  "sed -i 's/a/b/' f",
  "bash -c 'touch a'",
  "sudo bash -c 'apt-get update'",
  '/usr/bin/touch a',
  'sudo cp ./a.sh /usr/local/bin/a',
  'i=0; i=$((i + 1)); touch a$i',
  'for f in *.ts; do touch "$f"; done',
  'find . -name x -exec sh -c \'touch "$1"\' _ {} \\;',
  "ssh h 'uptime'",
  'vim a',
  'sqlite3 db "select 1"',
  "psql db -c 'select 1'",
  'docker run -v ./a:/a image',
  'PATH=/usr/bin:$PATH touch a',
  'make --version',
  'NODE_OPTIONS=--max-old-space-size=4096 mytool',
  'let i=1',
  'a[1]=$x',
  'printf -v x "%s" "$y"',
  '[ "$x" -eq 1 ]',
  'enable -n test',
  'echo a > b',
];

describe('a command whose executed text cannot be seen', () => {
  test.each(opaque)('is a question where a rule is about commands: %s', async (command) => {
    expect(await behavior(command, { deny, allow: ['Bash'] })).toBe('ask');
    expect(await behavior(command, { ask: deny })).toBe('ask');
    expect(await behavior(command, { deny }, 'dontAsk')).toBe('deny');
  });

  test.each(shown)('is none of these: %s', async (command) => {
    expect(await behavior(command, { deny, allow: ['Bash'] })).toBe('allow');
    expect(await behavior(command, { deny })).toBe('allow');
  });

  test.each(['bash script.sh', 'make test', 'echo $((x))', './build.sh'])(
    'is left to the mode where no rule is about commands: %s',
    async (command) => {
      expect(await behavior(command, {})).toBe('allow');
      expect(await behavior(command, { deny: ['Read(.env)'] })).toBe('allow');
    },
  );

  test.each([
    ['npm run build', 'Bash(npm run *)'],
    ['make -j4 test', 'Bash(make:*)'],
    ['timeout 5 make test', 'Bash(make:*)'],
    ['python3 x.py', 'Bash(python3 x.py)'],
    ['./build.sh', 'Bash(./build.sh)'],
    ['sudo make install', 'Bash(sudo make install)'],
    ['./build.sh && ls', 'Bash(./build.sh)'],
    ['echo $((x))', 'Bash(echo $((x)))'],
  ])('passes where a rule allows its program: %s by %s', async (command, rule) => {
    expect(await behavior(command, { deny, allow: [rule] })).toBe('allow');
  });

  test.each([
    ['make test', 'Bash(*)'],
    ['timeout 5 make test', 'Bash(timeout:*)'],
    ['sudo make test', 'Bash(sudo:*)'],
    ["bash -c './x'", 'Bash(bash:*)'],
    ['awk -f p f', 'Bash(awk:*)'],
    ['PATH=. make', 'Bash(make:*)'],
    ['make test && ./x', 'Bash(make:*)'],
  ])('does not pass for another rule: %s by %s', async (command, rule) => {
    expect(await behavior(command, { deny, allow: [rule] })).toBe('ask');
  });

  test('says what is not seen, and which rule would allow it', async () => {
    expect(await decide('make test', { deny }, 'default')).toMatchObject({
      behavior: 'ask',
      message: 'What "make test" runs cannot be seen, and may be what a rule forbids',
      suggestions: [{ type: 'addRules', behavior: 'allow', rules: ['Bash(make test:*)'] }],
    });
  });
});

describe('a deny rule finds what is written', () => {
  test.each([
    "bash <<'E'\nrm x\nE",
    'sh <<E\nls; rm x\nE',
    "bash <<< 'rm x'",
    "sudo bash <<'E'\nrm x\nE",
    "python3 - <<'E'\nimport os; os.system('rm x')\nE",
    '/lib64/ld-linux-x86-64.so.2 /bin/rm x',
    "sqlite3 db '.shell rm x'",
    'mapfile -C rm -c1 a < f',
    'git rebase -x rm main',
    'busybox rm x',
    'ash -c "rm x"',
  ])('%j', async (command) => {
    expect(await behavior(command, { deny: ['Bash(rm:*)'] })).toBe('deny');
  });
});
