/** PowerShell through a built server, with a stand-in for `pwsh` on its search path. */
import { beforeAll, expect, it } from 'vitest';
import { startServer } from '../helpers/built-server.ts';
import { standInPwsh } from '../helpers/pwsh.ts';
import { block, wireClient, type WireClient } from '../helpers/wire-client.ts';

let client: WireClient;

beforeAll(async () => {
  const environment = { PATH: `${standInPwsh().folder}:${process.env['PATH']}` };
  client = wireClient(await startServer({ environment }));
});

async function run(command: string, rules: object = {}, mode = 'default') {
  const id = await client.session({ mode, rules });
  const { results, calls } = await client.execute(id, [block('PowerShell', { command })]);
  return { text: String(results[0]?.content), code: calls[0]?.error_code };
}

it('is asked about, also where the command only reads, and allowed by a rule of the whole command', async () => {
  expect(await run('echo hello')).toMatchObject({ code: 'permission_denied' });
  expect(await run('echo hello', { allow: ['PowerShell(echo hello)'] })).toMatchObject({ text: 'hello' });
  const longer = await run('echo hello; echo you', { allow: ['PowerShell(echo hello)', 'PowerShell(echo:*)'] });
  expect(longer).toMatchObject({ code: 'permission_denied' });
});

it('is held by deny rules in every mode, and asked where one might apply', async () => {
  const deny = ['PowerShell(Remove-Item:*)'];
  for (const command of ['Remove-Item x', 'echo; remove-ITEM x', 'ri x']) {
    const denied = await run(command, { deny, allow: ['PowerShell'] }, 'acceptEdits');
    expect(denied).toMatchObject({ code: 'permission_denied' });
  }
  expect(await run('echo hello', { allow: ['PowerShell'] }, 'plan')).toMatchObject({ code: 'permission_denied' });
});
