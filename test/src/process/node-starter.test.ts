/** Where the kernel's own calls cannot be had, Node's spawn does the same. */
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { type Program, type StartedProcess, startWithNode } from '../../../src/process/host/starter.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const folder = temporaryFolder();
const env = { PATH: process.env['PATH'] ?? '' };
const shell = (script: string): Program => ({
  file: 'bash',
  args: ['-c', script],
  cwd: folder,
  env,
  inputDescriptor: undefined,
  extraDescriptors: [],
});

it('starts a program in its folder, leader of a session, and tells how it ends', async () => {
  const { output, exited, input } = startWithNode(
    shell('pwd; cut -d" " -f6 /proc/$$/stat; echo $$; echo err >&2; exit 3'),
  ) as StartedProcess;
  const [out, err] = await Promise.all([text(output.stdout), text(output.stderr)]);
  const [cwd, session, own] = out.trim().split('\n');
  expect([cwd, session, err, input]).toEqual([folder, own, 'err\n', null]);
  expect(await exited).toEqual({ code: 3, signal: null });
  const killed = startWithNode(shell('kill -TERM $$')) as StartedProcess;
  expect(await killed.exited).toEqual({ code: null, signal: 'SIGTERM' });
});

it.each([0, 3] as const)('writes to its descriptor %i, and hands on files behind', async (inputDescriptor) => {
  writeFileSync(join(folder, 'given'), 'given\n');
  const given = openSync(join(folder, 'given'), 'r');
  const more = inputDescriptor === 0 ? 3 : 4;
  const { output, input } = startWithNode({
    ...shell(`cat <&${inputDescriptor}; cat <&${more}`),
    inputDescriptor,
    extraDescriptors: [given],
  }) as StartedProcess;
  closeSync(given);
  input?.end('input\n');
  expect(await text(output.stdout)).toBe('input\ngiven\n');
});

it('says why a program cannot be started', async () => {
  const unstarted = startWithNode({ ...shell(''), file: 'no-such-program' });
  expect(unstarted.pid === undefined && (await unstarted.failure)).toMatchObject({ code: 'ENOENT' });
});
