/** The built package stands alone: its types need no package, no sources of the server and no types of Node. */
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const home = temporaryFolder();
const installed = join(home, 'node_modules/@gauntlet/client');

beforeAll(async () => {
  mkdirSync(installed, { recursive: true });
  await run(process.execPath, [join(root, 'client/build.mjs'), join(installed, 'dist')]);
  symlinkSync(join(root, 'client/package.json'), join(installed, 'package.json'));
});

function built(extension: string): readonly { readonly name: string; readonly text: string }[] {
  const names = readdirSync(join(installed, 'dist'), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith(extension))
    .map((name) => ({ name, text: readFileSync(join(installed, 'dist', name), 'utf8') }));
}

it('has the version of the server', () => {
  const versionOf = (folder: string) =>
    (JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as { version: string }).version;
  expect(versionOf('client')).toBe(versionOf('.'));
});

it('imports nothing but its own files, and names nothing that only Node has', () => {
  const files = [...built('.js'), ...built('.d.ts')];
  const foreign = files.flatMap(({ name, text }) =>
    ts
      .preProcessFile(text)
      .importedFiles.flatMap(({ fileName }) => (/^\.{1,2}\/.*\.js$/.test(fileName) ? [] : [`${name}: ${fileName}`])),
  );
  expect(foreign).toEqual([]);
  expect(files.filter(({ text }) => /\b(Buffer|process|require|__dirname)\b[.(]/.test(text))).toEqual([]);
});

it('is typed for a strict consumer in a browser', async () => {
  writeFileSync(join(home, 'package.json'), '{"type": "module"}');
  writeFileSync(
    join(home, 'consumer.ts'),
    `import { connect, GauntletError, type Frame } from '@gauntlet/client';
    import { gauntletTools } from '@gauntlet/client/ai';
    const client = await connect({
      token: 'a token',
      WebSocket,
      session: { cwd: '/work', mode: 'acceptEdits', rules: { allow: ['Bash'] } },
      onAsk: (question) => question.destructive ? undefined : { behavior: 'allow', updated_permissions: [...question.suggestions] },
      onProgress: (frame: Frame, call) => { if (frame.type === 'progress') console.log(call?.id, frame.data.type); },
    });
    const tools: { name: string; input_schema: { type: 'object' } }[] = await client.tools();
    const chat: { type: 'function'; function: { name: string } }[] = await client.tools('openai-chat');
    const messages: { role: 'user' | 'assistant'; content: string | object[] }[] = [];
    messages.push(...(await client.execute({ message: { content: [] } })).append);
    const { append } = await client.execute({ tool_calls: [] });
    const role: 'tool' | 'user' | 'assistant' | undefined = append[0]?.role;
    const own = await gauntletTools(client, { tool: (definition: object) => definition, jsonSchema: (schema) => schema });
    const first: object | undefined = own['Read'];
    // @ts-expect-error A mode that is none.
    await connect({ token: '', session: { mode: 'free' } });
    // @ts-expect-error Calls of no provider.
    await client.execute({ calls: [] });
    console.log(tools, chat, role, first, new GauntletError('closed', 'closed').status satisfies number);
    `,
  );
  const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom'];
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const checked = await run(process.execPath, [tsc, ...options, 'consumer.ts'], { cwd: home }).catch(
    (error: { stdout: string }) => error,
  );
  expect(checked.stdout).toBe('');
});
