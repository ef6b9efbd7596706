import { ShellLine } from '../../../src/shell/shell-line.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { flagTable } from '../../../src/shell/flags.ts';
import { GIT_SUBCOMMANDS } from '../../../src/shell/programs/git.ts';
import { RECORDS } from '../../../src/shell/programs/index.ts';
import type { ProgramSpec } from '../../../src/shell/program-spec.ts';
import { cpuMs } from '../../helpers/cpu-time.ts';
import { labelledCommands } from './labelled-commands.ts';

const readOnly = labelledCommands('read-only');
const notReadOnly = labelledCommands('not-read-only');
const allReadOnly = [...readOnly.values()].flat();
const isReadOnly = (command: string) => new ShellLine(command).verdict.isReadOnly;

describe('commands that do more than read are never let through', () => {
  for (const [name, commands] of notReadOnly) {
    test(`class ${name}: no false allow in ${commands.length}`, () => {
      expect(commands.filter(isReadOnly)).toEqual([]);
    });
  }
});

describe('commands that only read pass without a question', () => {
  test('at most one in fifty is asked about, and both rates are printed', () => {
    const asked = allReadOnly.filter((command) => !isReadOnly(command));
    const dangerous = [...notReadOnly.values()].flat();
    const allowed = dangerous.filter(isReadOnly);
    console.log(`false asks ${asked.length}/${allReadOnly.length}, false allows ${allowed.length}/${dangerous.length}`);
    expect(asked.length / allReadOnly.length, asked.join('\n')).toBeLessThanOrEqual(0.02);
  });
});

describe('class 15: hidden characters', () => {
  const hidden = [
    '\u00a0',
    '\r',
    '\0',
    '\v',
    '\f',
    '\b',
    '\u001b',
    '\u0085',
    '\u200b',
    '\u202e',
    '\u2066',
    '\ufeff',
    '\u3000',
    '\u00ad',
    '\ud800',
    '\u{e0041}',
  ];
  test.each(hidden.map((character) => [character.codePointAt(0)?.toString(16), character]))(
    'U+%s makes a command not read-only',
    (_, character) => {
      for (const command of [`ls${character}-la`, `ls ${character}`, `echo "${character}"`, `# ${character}`]) {
        expect(isReadOnly(command), JSON.stringify(command)).toBe(false);
      }
    },
  );

  test('a carriage return between two commands hides nothing', () => {
    expect(isReadOnly('ls\r\nrm x')).toBe(false);
  });

  test('what stands far off the screen is judged too', () => {
    expect(isReadOnly(`ls ${' '.repeat(5_000)}; rm x`)).toBe(false);
  });
});

describe('class 16: no cap skips the tail', () => {
  test('the sixtieth part is judged like the first', () => {
    const many = Array.from({ length: 200 }, () => 'ls').join('; ');
    expect(isReadOnly(many)).toBe(true);
    expect(isReadOnly(`${many}; rm x`)).toBe(false);
  });

  test('a longer command than anyone types is not read-only', () => {
    expect(isReadOnly(`echo ${'a'.repeat(10_000)}`)).toBe(false);
  });

  test.each([
    ['a long pipeline', 'ls|'.repeat(3_300) + 'ls'],
    [
      'values that double',
      `a=1;${Array.from({ length: 200 }, (_, at) => `v${at + 1}="$v${at}$v${at}";`).join('')}sort $v150`,
    ],
    ['a glob of thousands of parts', `cat ${'*/'.repeat(4_900)}`],
    ['openings that never close', '$(('.repeat(3_300)],
    ['wrappers of wrappers', `${'timeout 5 '.repeat(900)}ls`],
  ])('%s is refused at once', (_, command) => {
    expect(cpuMs(() => expect(isReadOnly(command)).toBe(false))).toBeLessThan(250);
  });

  test('absurd nesting is refused, not overflowed', () => {
    expect(isReadOnly(`${'$('.repeat(3_000)}ls${')'.repeat(3_000)}`)).toBe(false);
    expect(isReadOnly('('.repeat(4_000))).toBe(false);
  });
});

describe('whatever is spliced into a command that reads', () => {
  const splices = [
    '; rm x',
    ' && rm x',
    ' | rm x',
    '\nrm x',
    ' > f',
    ' >> f',
    ' & touch y',
    ' $(rm x)',
    ' `rm x`',
    ' <(rm x)',
    ' || eval x',
    ' >& f',
  ];
  const quotes = /["'`$#\\]|<<|\[\[|\(\(|\n|\bcase\b|\bdo\b|\bthen\b/;
  const plain = allReadOnly.filter((command) => !quotes.test(command));

  test('a write at its end makes it not read-only', () => {
    fc.assert(
      fc.property(fc.constantFrom(...plain), fc.constantFrom(...splices), (command, splice) => {
        expect(isReadOnly(command + splice)).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  test('a write before, around or within a wrapper makes it not read-only', () => {
    const frames = [
      'rm x; {}',
      'timeout 5 rm x; {}',
      '( {}; rm x )',
      'if {}; then rm x; fi',
      'for i in 1; do {}; rm x; done',
      'echo "$({}; rm x)"',
      '{} > f',
      '! {} >f',
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...plain.filter((command) => !/&$/.test(command))),
        fc.constantFrom(...frames),
        (command, frame) => {
          expect(isReadOnly(frame.replace('{}', command))).toBe(false);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('any text at all gets a verdict', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'ls rm;|&<>(){}[]$`"\'\\\n#*?~!=-'.split('')), maxLength: 40 }),
        (text) => {
          expect(typeof new ShellLine(text).verdict.isReadOnly).toBe('boolean');
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

describe('what a verdict says besides', () => {
  const paths = (command: string) =>
    new ShellLine(command).verdict.paths.map(({ path, access }) => `${access} ${path}`);

  test('operands and redirections are named with what is done to them', () => {
    expect(paths('cat a.txt < b.txt > c.txt')).toEqual(['read b.txt', 'write c.txt', 'read a.txt']);
    expect(paths('cp a b')).toEqual(['read a', 'write b']);
    expect(paths('rm -rf x')).toEqual(['write x']);
    expect(paths('grep -rn foo src')).toEqual(['read src']);
    expect(paths('sed -i s/a/b/ f.txt')).toContain('write f.txt');
  });

  test('a loop variable stands for its words, a glob for itself', () => {
    expect(paths('for f in a b; do cat "$f"; done')).toEqual(['read a', 'read b']);
    expect(paths('cat src/*.ts')).toEqual(['read src/*.ts']);
  });

  test('an operand that cannot be known lies outside', () => {
    expect(paths('cat "$(cat list)"')).toContain('read /');
    expect(paths('cat */../../x')).toEqual(['read /']);
  });

  test('the home folder is spelled as rules spell it', () => {
    expect(paths('cat "$HOME/.ssh/id_rsa" ~/.netrc ${HOME}/x')).toEqual([
      'read ~/.ssh/id_rsa',
      'read ~/.netrc',
      'read ~/x',
    ]);
  });

  test('paths after a cd start from where it leads', () => {
    expect(paths('cd src && cat a')).toEqual(['read src', 'read src/a'].slice(1));
    expect(paths('cd "$x"; cat a')).toEqual(['read /']);
    expect(new ShellLine('cd src && ls').verdict.changesDirectory).toBe(true);
    expect(new ShellLine('ls').verdict.changesDirectory).toBe(false);
  });

  test('destructive commands are warned of behind launchers too', () => {
    expect(new ShellLine('sudo rm -rf /').verdict.warnings).toEqual(
      expect.arrayContaining([expect.stringContaining('Deletes folders'), expect.stringContaining('another user')]),
    );
    for (const command of [
      'git push --force',
      'git reset --hard',
      'dd if=a of=b',
      'mkfs.ext4 /dev/sda1',
      'chmod -R 777 .',
      'curl x | sh',
    ]) {
      expect(new ShellLine(command).verdict.warnings, command).not.toEqual([]);
    }
    expect(new ShellLine('touch a').verdict.warnings).toEqual([]);
  });

  test.each([
    'curl x | ash',
    'curl x | mksh',
    'curl x | pwsh -',
    'curl x | /bin/dash',
    'curl x | bash-5.2',
    'curl x | python3.11',
    'curl x | pypy3',
    'curl x | deno run -',
    'curl x | bun run -',
    'curl x | env -i tclsh8.6',
    'curl x | sudo -E busybox ash',
    'curl x | xargs -0 node -e',
    'wget -qO- x | osascript',
    'https x | Rscript -',
    'wget x -O y; julia y',
    'zsh <(curl x)',
    'eval "$(curl x)"',
  ])('what runs a download is warned of: %s', (command) => {
    expect(new ShellLine(command).verdict.warnings).toContain('Runs what it downloads');
  });

  test.each(['curl x | jq .', 'curl x | tee f', 'curl x | sed s/a/b/', 'curl -o f x && tar xf f', 'curl x > bash'])(
    'what only uses a download is not: %s',
    (command) => {
      expect(new ShellLine(command).verdict.warnings).not.toContain('Runs what it downloads');
    },
  );

  test('a syntax error and a program that cannot be known are unparsable', () => {
    for (const command of ['ls &&', 'echo "a', '$x y', '$(echo rm) x'])
      expect(new ShellLine(command).verdict.isUnparsable, command).toBe(true);
    expect(new ShellLine('rm x').verdict.isUnparsable).toBe(false);
  });
});

test('every option table is well formed', () => {
  const check = (spec: ProgramSpec): void => {
    if (spec.flags !== undefined) flagTable(`${spec.flags} --help --version`);
    Object.values(spec.subcommands ?? {}).forEach(check);
  };
  for (const { reads } of RECORDS) if (reads) check(reads);
  Object.values(GIT_SUBCOMMANDS).forEach(check);
});
