import { ShellLine } from '../../../src/shell/shell-line.ts';
import { describe, expect, test } from 'vitest';
import { createPermissionContext } from '../../../src/permissions/context.ts';
import { decidePermission } from '../../../src/permissions/decide.ts';
import { analyse } from '../../../src/shell/analysis.ts';
import { createBudget, MAX_STEPS } from '../../../src/shell/budget.ts';
import { shellMatcher } from '../../../src/shell/matcher.ts';
import { reachOf } from '../../../src/shell/reach.ts';
import type { Tool } from '../../../src/tool/tool.ts';
import { shellToolsIn } from '../../helpers/shell-tools.ts';
import { invocationOf } from '../../helpers/invocation.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { sessionContextIn, toolUseContextIn } from '../../helpers/tool-use-context.ts';
import { labelledCommands } from './labelled-commands.ts';

const root = temporaryFolder();
const bash = shellToolsIn(root).tools.bash as unknown as Tool;

/** The steps that all readings of a line take together. */
function stepsOf(command: string): number {
  const budget = createBudget();
  reachOf(command, analyse(command, budget), budget).open();
  return budget.spentSteps;
}

async function decide(command: string, rules: { readonly allow?: string[]; readonly deny?: string[] }) {
  const permissions = createPermissionContext({
    mode: 'bypassPermissions',
    rules: { session: rules },
    isBypassAvailable: true,
  });
  const context = toolUseContextIn(root, { session: sessionContextIn(root, { permissions }) });
  const locate = () => Promise.reject(new Error('no path stands in these lines'));
  return (await decidePermission({ invocation: invocationOf(bash, { command }), context, locate })).behavior;
}

const folders = (count: number) => Array.from({ length: count }, (_, at) => `cd a${at}`).join(';');

/** Lines that multiply: launchers by launchers, values by folders, programs by their producers. */
const MULTIPLYING: Readonly<Record<string, string>> = {
  'eval of eval': 'eval '.repeat(1_900),
  'watch of watch': 'watch '.repeat(1_600),
  'parallel of parallel': 'parallel '.repeat(1_090),
  'many scripts that run scripts': `sudo ${"'eval a b; sudo c d e f g h i; eval j k l m n o p' ".repeat(140)}`,
  'alternatives in many folders': `${folders(4)};${'cat {1,2,3,4,5,6,7,8}{1,2,3,4,5,6,7,8} '.repeat(230)}`,
  'alternatives behind sudo': 'sudo {a,b}{c,d}{e,f}{g,h}{i,j}{k,l};'.repeat(180),
  'folders by names': `find ${'d '.repeat(900)} ${'-name x '.repeat(480)} -delete`,
  'a pipeline that is looked back on': `${'a|xargs '.repeat(190)}b`,
  'targets of make': `make ${'x '.repeat(1_900)}`,
  'settings of git': `git ${'-calias.x=y '.repeat(800)}`,
};

describe('a line that multiplies what it may run', () => {
  test.each(Object.entries(MULTIPLYING))('%s is asked about, and allowed by no rule', async (_name, command) => {
    expect(shellMatcher(new ShellLine(command)).isUnparsable).toBe(true);
    expect(stepsOf(command)).toBeLessThanOrEqual(MAX_STEPS);
    expect(await decide(command, { deny: ['Bash(terraform:*)'] })).toBe('ask');
    expect(shellMatcher(new ShellLine(command)).covers(['eval:*', 'sudo:*', 'make:*'])).toBeUndefined();
  });

  test('a sixth script within scripts is followed, and what is deeper is asked about', () => {
    const nested = (levels: number): string =>
      levels === 0 ? 'rm x' : `bash -c ${JSON.stringify(nested(levels - 1))}`;
    expect(shellMatcher(new ShellLine(nested(5))).hits(['rm:*'], 'deny')).toBe('rm:*');
    expect(shellMatcher(new ShellLine(nested(5))).isUnparsable).toBe(false);
    expect(shellMatcher(new ShellLine(nested(8))).isUnparsable).toBe(true);
  });

  test.each([
    ['substitutions', 'echo $('.repeat(60) + 'x' + ')'.repeat(60)],
    ['groups', '{ '.repeat(200) + 'x' + '; }'.repeat(200)],
    ['sub-shells', '( '.repeat(200) + 'x' + ' )'.repeat(200)],
    ['sums', `echo $((${'1+'.repeat(600)}1))`],
  ])('a tree too deep to be walked is not understood: %s', (_name, command) => {
    expect(new ShellLine(command).verdict).toMatchObject({ isReadOnly: false, isUnparsable: true });
  });
});

describe('a long line does not stop the server', () => {
  test.each([
    ['brackets in a comment', `ls # ${'('.repeat(9_900)}`],
    ['a long name beside braces', `ls {a,b}${'a'.repeat(9_900)}`],
    ['expansions in a quote', `echo '${'${'.repeat(120)}${'a'.repeat(9_600)}'`],
  ])('%s', (_name, command) => {
    // Each line is another one, since verdicts are remembered; the best of some tells it from a busy machine.
    const durationsMs = [1, 2, 3].map((count) => {
      const start = performance.now();
      new ShellLine(command + ' '.repeat(count)).verdict;
      return performance.now() - start;
    });
    expect(Math.min(...durationsMs)).toBeLessThan(80);
  });
});

test('what people write takes a sixth of the budget at most', () => {
  const commands = (['read-only', 'not-read-only', 'denied'] as const).flatMap((name) => [
    ...[...labelledCommands(name).values()].flat(),
  ]);
  const longest = commands.toSorted((one, other) => other.length - one.length).slice(0, 400);
  expect(longest.filter((command) => stepsOf(command) > MAX_STEPS / 6)).toEqual([]);
});
