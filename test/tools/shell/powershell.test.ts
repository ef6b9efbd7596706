/** PowerShell, with a stand-in for `pwsh` that records how it is called. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createPermissionContext } from '../../../src/permissions/context.ts';
import { decidePermission } from '../../../src/permissions/decide.ts';
import { powershellTool } from '../../../tools/shell/powershell.ts';
import { invocationOf } from '../../helpers/invocation.ts';
import { standInPwsh } from '../../helpers/pwsh.ts';
import { shellToolsIn } from '../../helpers/shell-tools.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { allowEverything, parentMessage, sessionContextIn } from '../../helpers/tool-use-context.ts';

describe('PowerShell', () => {
  const root = temporaryFolder();
  const world = shellToolsIn(root);
  const pwsh = standInPwsh();
  const tool = powershellTool({ ...world, searchPath: `relative:${temporaryFolder()}:${pwsh.folder}` });

  async function run(input: Record<string, unknown>) {
    const parsed = tool.inputSchema.parse(input);
    const { data } = await tool.call(parsed, world.context(), allowEverything, parentMessage, undefined);
    return { data, text: String(tool.mapToolResultToToolResultBlockParam(data, 'call-1').content) };
  }

  it('starts pwsh without profile, prompts and markup, with the command as one encoded argument', async () => {
    const command = 'echo "it\'s `é`"; echo $PWD';
    await run({ command: command.replaceAll('`', '') });
    const recorded = pwsh.recorded();
    expect(recorded.slice(0, -1)).toEqual([
      '-NoLogo',
      '-NoProfile',
      '-NonInteractive',
      '-OutputFormat',
      'Text',
      '-EncodedCommand',
    ]);
    expect(Buffer.from(recorded.at(-1) ?? '', 'base64').toString('utf16le')).toBe(command.replaceAll('`', ''));
  });

  it('answers with the output, in the working directory', async () => {
    writeFileSync(join(root, 'here.txt'), '');
    expect((await run({ command: 'ls; echo "a b"' })).text).toBe('here.txt\na b');
  });

  it('fails with the exit code, and ends what takes too long', async () => {
    await expect(run({ command: 'echo broken; exit 3' })).rejects.toMatchObject({
      code: 'tool_failed',
      message: expect.stringMatching(/^Exit code 3\nbroken/),
    });
    await expect(run({ command: 'sleep 60', timeout: 200 })).rejects.toMatchObject({ code: 'timeout' });
    expect(world.survivors()).toEqual([]);
  });

  it('runs on in the background as a task', async () => {
    const { data, text } = await run({ command: 'echo later', run_in_background: true });
    expect(text).toContain('TaskOutput');
    const taskId = 'taskId' in data ? data.taskId : '';
    const shown = await world.taskOutput.call(
      world.taskOutput.inputSchema.parse({ task_id: taskId, block: true }),
      world.context(),
      allowEverything,
      parentMessage,
      undefined,
    );
    expect(JSON.stringify(shown.data)).toContain('later');
  });

  it('is listed only where pwsh is', () => {
    expect(tool.isEnabled()).toBe(true);
    const without = powershellTool({ ...world, searchPath: temporaryFolder() });
    expect(without.isEnabled()).toBe(false);
    expect(without.disabledReason()).toContain('install PowerShell 7');
  });

  it('never counts as reading, whatever the command', () => {
    expect(tool.isReadOnly(tool.inputSchema.parse({ command: 'Get-Date' }))).toBe(false);
    expect(tool.isConcurrencySafe(tool.inputSchema.parse({ command: 'Get-Date' }))).toBe(false);
  });

  describe('rules', () => {
    const matcher = (command: string) => tool.preparePermissionMatcher(tool.inputSchema.parse({ command }));

    it.each([
      ['Remove-Item x', 'Remove-Item:*'],
      ['Get-Date; REMOVE-ITEM x', 'Remove-Item *'],
      ['Remove-`Item x', 'remove-item:*'],
      ["& 'Remove-Item' x", 'Remove-Item'],
      ['anything', '*'],
    ])('%j is hit by deny rule %j', (command, spec) => {
      expect(matcher(command).hits([spec], 'deny')).toBe(spec);
    });

    it('any other command may be hit: aliases and built names are not seen', () => {
      expect(matcher('ri x').hits(['Remove-Item:*'], 'deny')).toBeUndefined();
      expect(matcher('ri x').mayHit?.(['Remove-Item:*'])).toBe('Remove-Item:*');
    });

    it('an allow rule covers the whole command and nothing more', () => {
      expect(matcher('Get-Date').covers(['Get-Date'])).toEqual(['Get-Date']);
      for (const spec of ['Get-Date:*', 'Get-*', '*', 'get-date'])
        expect(matcher('Get-Date').covers([spec])).toBeUndefined();
      expect(matcher('Get-Date; ri x').covers(['Get-Date'])).toBeUndefined();
    });
  });

  it.each([
    [{ deny: [] }, 'allow'],
    [{ deny: ['WebFetch(domain:example.com)'] }, 'allow'],
    [{ deny: ['Read(secrets/**)'] }, 'ask'],
    [{ deny: ['Bash(curl:*)'] }, 'ask'],
    [{ deny: [], ask: ['Edit(config/**)'] }, 'ask'],
    [{ deny: ['Read(secrets/**)'], allow: ['PowerShell(cat secrets/key)'] }, 'allow'],
  ])('in a sandbox that allows unasked, with rules %j, the answer is %s', async (rules, behavior) => {
    const within = () => Promise.reject(new Error('Nothing runs here'));
    const sandbox = {
      ...{ isRequired: false, network: 'off' as const, isAutoAllowed: true },
      ...{ hidden: () => [], within, close: () => undefined },
    };
    const boxed = powershellTool({ ...world, sandbox, searchPath: pwsh.folder });
    const permissions = createPermissionContext({
      mode: 'default',
      rules: { session: { allow: [], ask: [], ...rules } },
      isBypassAvailable: false,
    });
    const decided = await decidePermission({
      invocation: invocationOf(boxed, { command: 'cat secrets/key' }),
      context: world.context({ session: sessionContextIn(root, { permissions }) }),
      locate: () => Promise.reject(new Error('It names no path')),
    });
    expect(decided.behavior).toBe(behavior);
  });

  it('draws an input that still streams in', () => {
    expect(tool.renderToolUseMessage({}).blocks[0]).toMatchObject({ text: '…' });
  });
});
