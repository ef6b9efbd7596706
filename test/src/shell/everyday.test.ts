/** What agents run all day passes the whole decision unasked; the same shapes aimed elsewhere do not. */
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RuleSet } from '../../../src/wire/permission-context.ts';
import type { Tool } from '../../../src/tool/tool.ts';
import { createLocatePath } from '../../../src/files/scope.ts';
import { createPermissionContext } from '../../../src/permissions/context.ts';
import { decidePermission } from '../../../src/permissions/decide.ts';
import { shellToolsIn } from '../../helpers/shell-tools.ts';
import { invocationOf } from '../../helpers/invocation.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { writeTree } from '../../helpers/tool-session.ts';
import { sessionContextIn, toolUseContextIn } from '../../helpers/tool-use-context.ts';
import { labelledCommands } from './labelled-commands.ts';

const root = writeTree(join(temporaryFolder(), 'workspace'), {
  'package.json': '{}',
  'src/a.ts': '',
  'sub/b.ts': '',
  'sub/deep/c.ts': '',
  '.env': 'KEY=1',
  'secrets/a': '',
  list: '',
});
symlinkSync('secrets', join(root, 'sl'));
const bash = shellToolsIn(root).tools.bash as unknown as Tool;
const locate = createLocatePath({ protectedPaths: [], maxEntries: 100 });

async function decide(command: string, rules: Partial<RuleSet> = {}, cwd = root, locating = locate) {
  const permissions = createPermissionContext({ mode: 'default', rules: { session: rules }, isBypassAvailable: true });
  const context = toolUseContextIn(root, { session: sessionContextIn(root, { permissions, cwd }) });
  return decidePermission({ invocation: invocationOf(bash, { command }), context, locate: locating });
}
const behavior = async (...question: Parameters<typeof decide>) => (await decide(...question)).behavior;

describe('passes without a question:', () => {
  test.each([
    'git log --oneline -20 | head',
    "find . -name '*.ts' | xargs grep -n foo",
    "find src sub -type f -name '*.ts' 2>/dev/null | grep -v test | sort | head -20 | xargs wc -l",
    'find . -print0 | xargs -0 -n 10 grep -l foo',
    'find . | xargs -I{} wc -l {}',
    'ls -la && cat package.json | jq .scripts',
    'node --version',
    'du -sh *',
    'ps aux | grep node',
    'diff <(sort a) <(sort b)',
    "jq -r '.a[]' f.json | sort | uniq -c",
    'for f in *.ts; do wc -l "$f"; done',
    'for f in $(find . -name \'*.md\'); do head -3 "$f"; done',
    'wc -l $(git ls-files)',
    'wc -l `git ls-files`',
    'files=$(git ls-files src); wc -l $files',
    'cat "$(git ls-files | head -1)"',
    'git ls-files | xargs wc -l',
    'git diff --name-only HEAD | xargs -r ls -la',
    'ls src | xargs echo',
    'rg -l foo src | xargs wc -l',
    'grep -rl foo . | xargs head -1',
    'while read -r f; do wc -l "$f"; done < <(find .)',
    'find . -type f | while IFS= read -r f; do head -1 "$f"; done',
    'while IFS= read -r -d \'\' f; do wc -l "$f"; done < <(find . -print0)',
    'cd sub && cat b.ts && ls ..',
    'cd sub && cat ../package.json',
    'grep -rn foo',
    'rg foo',
    'for f in src/*.ts; do cat "${f%.ts}.js"; done',
    'for f in src/*.ts; do diff "$f" "test/${f##*/}"; done',
    'for f in src/*.ts; do wc -l "test/${f#src/}"; done',
    'for f in src/*.ts; do ls "${f%/*}"; done',
    'f=src/a.ts; cat ${f%/*}/b.ts',
    'ls packages | xargs -I % cat packages/%/package.json',
    'ls src | xargs -I{} cat src/{}',
    'ls src | xargs -I{} wc -l ./src/{}',
    `while read -r f; do wc -l "$f"; done <<< "$(find . -name '*.ts')"`,
    'while IFS= read -r f; do cat "$f"; done <<< "$(git ls-files)"',
  ])('%s', async (command) => {
    expect(await decide(command)).toMatchObject({ behavior: 'allow', reason: { type: 'read_only' } });
  });
});

describe('is asked about, because it may read outside:', () => {
  test.each([
    'find / -name x | xargs cat',
    'find .. | xargs cat',
    'find -L . | xargs cat',
    "find . -printf '/etc/passwd\\n' | xargs cat",
    'find . -ls | xargs cat',
    "find . | sed 's/^/\\/etc/' | xargs cat",
    "find . | grep -o '/.*' | xargs cat",
    'find . | tail -c 9 | xargs cat',
    'find . | cut -c2- | xargs cat',
    'find . | xargs -I{} cat ../{}',
    'find . | xargs -I% cat %/../x',
    'find . | xargs -d. cat',
    'find . | xargs -a list cat',
    'find . | xargs cat < list',
    'find . |& xargs cat',
    'find . | grep x < list | xargs cat',
    'find . | { xargs cat; } < list',
    'ls -l | xargs cat',
    'ls -R | xargs cat',
    'cat list | xargs cat',
    'cat list | xargs grep',
    'grep $(cat list)',
    'echo "x /etc/passwd" | xargs cat',
    'git ls-files :/ | xargs cat',
    'git ls-files --format=/etc/passwd | xargs cat',
    'git diff --name-only --line-prefix=/etc/ | xargs cat',
    'wc -l $(find . ; cat list)',
    'f=$(find . | head -1); cat "$f/../../x"',
    'f=$(find .); f=/etc/passwd; cat "$f"',
    'find . | while IFS=/ read -r f; do cat "$f"; done',
    'find . | while read -r -d . f; do cat "$f"; done',
    'find . | while read -r a b; do cat "$b"; done',
    'find . | while read -r f; do cat "$f"; done < list',
    'find . | while read -r f; do cat "../$f"; done',
    'while read -r f; do cat "$f"; done < list',
    'cat list | while read -r f; do cat "$f"; done',
    'rg -l foo -r /etc/passwd | xargs cat',
    'cd /etc && ls',
    'cd /etc && rg root',
    'cd / && find . -name shadow',
    'false && cd sub; cat ../../x',
    'for i in 1 2; do cd ..; done; ls',
    'f() { cd /etc; }; f; cat passwd',
    'r() { cat passwd; }; cd /etc; r',
    'diff --from-file=/etc/passwd list',
    'diff --to-file /etc/passwd list',
    'diff -X /etc/passwd list list',
    'sort --files0-from=list',
    "printf '/etc/shadow\\0' | sort --files0-from=-",
    'wc --files0-from=list',
    'du --files0-from=list',
    'file -f list',
    'git blame --ignore-revs-file=/etc/passwd list',
    'git ls-files -o --exclude-from=/etc/passwd',
    'git log -O/etc/passwd',
    'last -f /etc/passwd',
    'who /etc/passwd',
    'yq -n \'load_str("/etc/passwd")\'',
    'jq -n \'"/etc/x" | modulemeta\'',
    'cat .*/x',
    'for f in src/*.ts; do cat "${f%.ts}/../../../x"; done',
    'for f in ../*.ts; do cat "${f%.ts}.js"; done',
    'for f in /etc/*.ts; do cat "${f##*/}/../../x"; done',
    'for f in /etc/*.d; do ls "${f%.d}"; done',
    'for f in src/*; do cat "/${f#src/}"; done',
    'for d in */; do cat "${d##*/}/etc/passwd"; done',
    'for f in **/*.ts; do cat "${f%/*}/../x"; done',
    'for f in *.ts; do cat "${f%"$x"}"; done',
    'for f in *.ts; do cat "${f%.*}"; done',
    'f=src; cat "${f%src}/etc/passwd"',
    'f=x/etc; cat "${f#x}/passwd"',
    'f=$(cat list); cat "${f%.ts}"',
    'ls src | xargs -I{} cat ../{}',
    'ls src | xargs -I{} cat /etc/{}',
    'ls src | xargs -I{} cat src/.{}',
    'ls src | xargs -I{} cat src{}',
    'ls src | xargs -I{} cat src/{}./x',
    'ls src | xargs -I{} cat src/{}/../../../x',
    'find .. | xargs -I{} cat src/{}',
    'echo ../../x | xargs -I{} cat src/{}',
    'ls -a | xargs -I{} ls ./{}',
    'cat list | xargs -I{} cat src/{}',
    'ls src | xargs -d/ -I{} cat src/{}',
    'while read -r f; do cat "$f"; done <<< "$(find /etc)"',
    'while read -r f; do cat "$f"; done <<< "$(find .)/../x"',
    'for f in .*; do cat "$f/x"; done',
    'hexdump -f /etc/passwd list',
    'hd -f/etc/passwd list',
    'jq -f list package.json',
    'jq --from-file=list package.json',
    'jq -L / . package.json',
    'yq /etc/passwd',
    'yq eval /etc/passwd',
    'sha256sum -c list',
    'md5sum --check list',
    'shellcheck -a list',
    'realpath --relative-to=/etc list',
    'git diff -O/etc/passwd',
    'git ls-files -o --exclude-per-directory=../list',
  ])('%s', async (command) => {
    expect(await behavior(command)).toBe('ask');
  });

  test.each([
    'echo /etc/*',
    "printf '%s\\n' ~/.ssh/*",
    'echo ../*',
    'echo /etc/{a,b}*',
    'p=/etc/*; echo $p',
    'a=(/etc/*); echo ${#a[@]}',
    'declare -a a=(/etc/*)',
    'for f in /etc/*; do n=1; done',
    '[[ -f /etc/x ]]',
    '[[ ! -e a || -d ~/x ]]',
    '[[ /etc/a -nt b ]]',
    'test -e /etc/x',
    '[ -f ../x ]',
    '[ -f "/etc/$x" ]',
    '[ a -ef /etc/b ]',
    'cd /etc; echo *',
    'which /root/x',
    'command -v /root/x',
    'find . -newer /etc/passwd',
    "compgen -G '/etc/*'",
  ])('it looks for names there: %s', async (command) => {
    expect(await behavior(command)).toBe('ask');
  });

  test.each([
    'echo *.ts',
    'echo /etc/passwd',
    'for f in src/*; do echo "$f"; done',
    '[ -f package.json ] && cat package.json',
    '[[ -d src && ! -e nothing ]] && ls src',
    '[ -f "$f" ]',
    '[ -x "$(command -v node)" ]',
    'cd src && ls',
    'which node',
  ])('but not below the working directory: %s', async (command) => {
    expect(await behavior(command)).toBe('allow');
  });

  test.each([
    'grep -R foo',
    'grep -rn --dereference-recursive foo src',
    'rg -L foo',
    'rg --follow foo src',
    'fd -L a',
    'find -L . -name a',
    'find . -follow -name a',
    'ls -L',
    'ls -lRL src',
    'ls --dereference',
    'tree -l',
    'tree -la src',
    'du -L',
    'du -sh --dereference .',
    'diff -r src sub',
    'diff -rq src sub',
    'diff -d --recursive src sub',
    'getfacl -RL .',
  ])('it follows the links it meets: %s', async (command) => {
    expect(await behavior(command)).toBe('ask');
  });

  test.each([
    'grep -r foo',
    'rg foo',
    'find . -name a',
    'ls -lR',
    'tree',
    'du -sh',
    'diff -r --no-dereference src sub',
  ])('but not where links are left alone: %s', async (command) => {
    expect(await behavior(command)).toBe('allow');
  });

  test('a cd that may not have happened, from a folder below', async () => {
    expect(await behavior('false && cd deep; cat ../../x', {}, join(root, 'sub'))).toBe('ask');
    expect(await behavior('for i in 1 2 3 4; do cd ..; done; cat passwd', {}, join(root, 'sub'))).toBe('ask');
  });
});

describe('a rule against reading a file', () => {
  const rules = { deny: ['Read(.env)'] };

  test.each([
    'grep -r x .',
    'grep -r x',
    'rg x',
    'rg x src',
    'git grep x',
    'diff -r --no-dereference src sub',
    'cat *',
    'head -1 ./*',
    'find . | xargs cat',
    'wc -l $(git ls-files)',
  ])('asks where %s may come upon it', async (command) => {
    expect(await decide(command, rules)).toMatchObject({
      behavior: 'ask',
      reason: { type: 'rule', rule: 'Read(.env)' },
    });
  });

  test.each(['cat .env', 'cat .e*', 'cat ./.en?'])('denies %s', async (command) => {
    expect(await behavior(command, rules)).toBe('deny');
  });

  test.each(['cat *.ts', 'grep x src/a.ts', 'ps aux | rg node', 'ls', 'git log --oneline'])(
    'leaves %s alone',
    async (command) => {
      expect(await behavior(command, rules)).toBe('allow');
    },
  );

  test('gives way to a rule that allows the command', async () => {
    expect(await behavior('grep -r x .', { ...rules, allow: ['Bash(grep:*)'] })).toBe('allow');
  });

  test.each([
    ['Read(./secrets/**)', 'grep -r x src', 'allow'],
    ['Read(./secrets/**)', 'grep -r x .', 'ask'],
    ['Read(./secrets/**)', 'cat src/*', 'allow'],
    ['Read(//etc/**)', 'grep -r x .', 'allow'],
    ['Read(*.pem)', 'cat *.ts', 'allow'],
    ['Read(*.pem)', 'cat *', 'ask'],
    ['Read(src/**/key.ts)', 'cat src/*', 'ask'],
    ['Read(src/**/key.ts)', 'cat sub/*', 'allow'],
  ] as const)('%s makes "%s" come out as %s', async (rule, command, expected) => {
    expect(await behavior(command, { deny: [rule] })).toBe(expected);
  });
});

describe('what a rule denies never passes, whatever else is allowed:', () => {
  const commandRules = ['Bash(rm:*)', 'Bash(git push:*)', 'Bash(curl:*)', 'Bash(npm publish *)'];
  const deny = [...commandRules, 'Read(./secrets/**)', 'Edit(.env)'];

  test.each([...labelledCommands('denied')])('class %s', async (_, commands) => {
    const decided = await Promise.all(commands.map((command) => behavior(command, { deny, allow: ['Bash'] })));
    expect(commands.filter((_command, at) => decided[at] === 'allow')).toEqual([]);
  });
});

describe('a search that opens files of some names', () => {
  const rule = { deny: ['Read(.env)'] };

  test.each([
    "grep -rn --include='*.ts' foo .",
    "grep -r --include='*.ts' --include='*.js' --exclude=a.ts foo",
    "rg -g '*.ts' foo",
    "rg --glob '*.{ts,tsx}' -g '!*.d.ts' foo src",
  ])('passes a rule about another name: %s', async (command) => {
    expect(await behavior(command, rule)).toBe('allow');
  });

  test.each([
    'grep -rn foo .',
    "grep -r --include='.e*' foo .",
    "grep -r --include='*' foo .",
    "grep -r --exclude='*.md' --include='*.ts' foo .",
    "grep -R --include='*.ts' foo .",
    'grep -r --include="$x" foo .',
    // The shell looks for files of that name.
    'grep -r --include=*.ts foo .',
    "rg -g '!*.lock' foo",
    "rg -g '*.ts' -g '**' foo",
    "rg -g 'dir/' foo",
    "rg -g '[.]env' foo",
    "rg -L -g '*.ts' foo",
    "rg --iglob '*.TS' foo",
    "grep -rl foo . | xargs grep --include='*.ts' foo",
  ])('is asked about where it may open the file: %s', async (command) => {
    expect(await behavior(command, rule)).toBe('ask');
  });

  test('is asked about where a folder has the name, and denied in it', async () => {
    const command = "grep -r --include='*.ts' foo .";
    expect(await behavior(command, { deny: ['Read(deep)'] })).toBe('ask');
    expect(await behavior(command, { deny: ['Read(secrets/**)'] })).toBe('ask');
    expect(await behavior(command, { deny: ['Read(*.ts)'] })).toBe('ask');
    expect(await behavior("grep -r --include='*.ts' foo sub/deep", { deny: ['Read(deep)'] })).toBe('deny');
  });

  test('is asked about where there is too much to look at', async () => {
    const few = createLocatePath({ protectedPaths: [], maxEntries: 3 });
    expect(await behavior("grep -r --include='*.ts' foo .", rule, root, few)).toBe('ask');
  });
});
