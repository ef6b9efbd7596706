/** LSP with real servers: that of TypeScript, and one that misbehaves. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../../config/limits.ts';
import { type LanguageServerSettings, languageServerSettings } from '../../../config/settings/language-servers.ts';
import { createPermissionContext } from '../../../src/permissions/context.ts';
import { readDenial } from '../../../src/permissions/path-gate.ts';
import { createJail } from '../../../src/process/jail/jail.ts';
import type { ToolUseContext } from '../../../src/tool/tool.ts';
import { lspTool } from '../../../tools/code/lsp/index.ts';
import type { LspArguments } from '../../../tools/code/lsp/schema.ts';
import { codeServices } from '../../helpers/code-services.ts';
import { processesWith, until } from '../../helpers/process-host.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { allowEverything, parentMessage, sessionContextIn, toolUseContextIn } from '../../helpers/tool-use-context.ts';

const ROOT = join(import.meta.dirname, '../../..');
const home = temporaryFolder();
const root = join(home, 'workspace');
const { processHost, jail, codeProcesses } = codeServices(home);

const languageServers: Readonly<Record<string, LanguageServerSettings>> = languageServerSettings(
  {
    typescript: {
      command: join(ROOT, 'node_modules/.bin/typescript-language-server'),
      args: ['--stdio'],
      extensions: ['.ts', '.tsx'],
      readFolders: [join(ROOT, 'node_modules')],
      initializationOptions: { disableAutomaticTypingAcquisition: true, tsserver: { useSyntaxServer: 'never' } },
    },
    odd: {
      command: process.execPath,
      args: [join(ROOT, 'test/fixtures/language-server.mjs')],
      extensions: ['.odd'],
      readFolders: [join(ROOT, 'test/fixtures')],
      env: { ODD_SERVER: home },
    },
  },
  (path) => path,
);
const services = { limits: DEFAULT_LIMITS, processHost, jail, languageServers, codeProcesses };
const tool = lspTool(services);

const FILES = {
  'tsconfig.json': '{ "compilerOptions": { "strict": true, "noEmit": true, "target": "es2022", "types": [] } }',
  'shape.ts':
    'export interface Shape {\n  area(): number;\n}\n/** A square. */\nexport class Square implements Shape {\n  constructor(readonly side: number) {}\n  area() {\n    return this.side * this.side;\n  }\n}\n',
  'main.ts':
    "import { Square } from './shape.js';\n\nconst square = new Square(2);\nexport const area: string = square.area();\n",
  'denied/secret.ts': "import { Square } from '../shape.js';\nexport const hidden = new Square(3);\n",
  'denied/secret.txt': 'secret\n',
  ...Object.fromEntries(
    ['die', 'silent', 'garbage', 'flood', 'odd', 'refuse', 'escape', 'list', 'storm', 'unread'].map((name) => [
      `${name}.odd`,
      'x\n',
    ]),
  ),
};
for (const [path, text] of Object.entries({ ...FILES, '../outside/secret': 'secret' })) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text, { mode: 0o666 });
}

function contextFor(filePath: string, changes: Partial<ToolUseContext> = {}): ToolUseContext {
  const real = join(root, filePath);
  const located = [{ spelled: real, real, isInside: true, isSessionFile: false }];
  return toolUseContextIn(root, { located, sessionFolder: join(home, 'session'), ...changes });
}

/** A session that may not read the folder `denied`. */
function denying(): Partial<ToolUseContext> {
  const permissions = createPermissionContext({
    mode: 'default',
    rules: { session: { allow: [], ask: [], deny: ['Read(denied/**)'] } },
    isBypassAvailable: false,
  });
  return { session: sessionContextIn(root, { permissions }), isReadDenied: readDenial(permissions, root) };
}

async function ask(input: LspArguments, changes: Partial<ToolUseContext> = {}) {
  const progress: string[] = [];
  const context = contextFor(input.filePath, changes);
  const { data } = await tool.call(input, context, allowEverything, parentMessage, ({ data: { message } }) =>
    progress.push(message),
  );
  return { text: data.text, progress };
}

const running = (text: string) => processesWith(text).length;

describe('LSP with the language server of TypeScript', { timeout: 60_000 }, () => {
  it('finds a definition, and tells how the server starts', async () => {
    const { text, progress } = await ask({ operation: 'definition', filePath: 'main.ts', line: 3, character: 20 });
    expect(text).toBe('2 definitions:\nshape.ts:5:14\nshape.ts:6:3');
    expect(progress[0]).toBe('Starting the language server "typescript"');
  });

  it('finds references in files that are not open, and starts no second server', async () => {
    const { text, progress } = await ask({ operation: 'references', filePath: 'shape.ts', line: 5, character: 14 });
    expect(text.split('\n').slice(1).sort()).toEqual([
      'denied/secret.ts:1:10',
      'denied/secret.ts:2:27',
      'main.ts:1:10',
      'main.ts:3:20',
      'shape.ts:5:14',
    ]);
    expect(progress).not.toContain('Starting the language server "typescript"');
  });

  it('shows types and comments', async () => {
    const { text } = await ask({ operation: 'hover', filePath: 'main.ts', line: 3, character: 20 });
    expect(text).toContain('Square');
    expect(text).toContain('A square.');
    const nothing = await ask({ operation: 'hover', filePath: 'main.ts', line: 2, character: 1 });
    expect(nothing.text).toBe('Nothing is known about main.ts:2:1: point at the first letter of a name');
  });

  it('outlines a file', async () => {
    const { text } = await ask({ operation: 'symbols', filePath: 'shape.ts' });
    expect(text).toMatch(/interface Shape, line 1\n {2}method area, line 2/);
    expect(text).toMatch(/class Square, line 5/);
  });

  it('lists errors of a file as it is on the disk', async () => {
    const { text } = await ask({ operation: 'diagnostics', filePath: 'main.ts' });
    expect(text).toContain("4:14 error: Type 'number' is not assignable to type 'string'. (typescript 2322)");
    writeFileSync(join(root, 'main.ts'), FILES['main.ts'].replace(': string', ': number'));
    const mended = await ask({ operation: 'diagnostics', filePath: 'main.ts' });
    expect(mended.text).toBe('main.ts has no errors or warnings');
  });

  it('answers several calls at once', async () => {
    const asked = [1, 2, 3, 4].map(() => ask({ operation: 'symbols', filePath: 'shape.ts' }));
    expect(new Set((await Promise.all(asked)).map(({ text }) => text)).size).toBe(1);
  });

  it('names no place that a deny rule hides, and the server cannot read there', async () => {
    const references = { operation: 'references', filePath: 'shape.ts', line: 5, character: 14 } as const;
    const { text } = await ask(references, denying());
    expect(text).not.toContain('denied');
    expect(text).toContain('main.ts:3:20');
  });
});

describe('LSP with a server that misbehaves', () => {
  const definition = (name: string, changes: Partial<ToolUseContext> = {}) =>
    ask({ operation: 'definition', filePath: `${name}.odd`, line: 1, character: 1 }, changes);

  it('lists places once, and leaves out hidden ones', async () => {
    const { text } = await definition('list', denying());
    expect(text).toBe('2 definitions:\nshown.ts:1:1\n/usr/lib/x.ts:1:1');
  });

  it('keeps it from writing, and from reading outside the workspace and what rules deny', async () => {
    await expect(definition('escape')).rejects.toThrow(/write: E\w+, outside: E\w+, denied: secret/);
    await expect(definition('escape', denying())).rejects.toThrow(/write: E\w+, outside: E\w+, denied: (E\w+|nothing)/);
  });

  it('is started again after a crash, at most three times a minute', async () => {
    const other = { rootSessionId: 'crashes' };
    expect((await definition('list', other)).text).toContain('shown.ts');
    await expect(definition('die', other)).rejects.toThrow('The language server "odd" has ended');
    expect((await definition('list', other)).text).toContain('shown.ts');
    await expect(definition('die', other)).rejects.toThrow('it failed 3 times within a minute');
    await expect(definition('list', other)).rejects.toThrow('it failed 3 times within a minute');
  });

  it('ends one that sends what is no message, or an endless one', async () => {
    await expect(definition('garbage', { rootSessionId: 'garbage' })).rejects.toThrow('has ended');
    await expect(definition('flood', { rootSessionId: 'flood' })).rejects.toThrow('has ended');
  });

  it('takes no more of a flood of messages than it handles, and ends one that reads no answers', async () => {
    const message = await definition('storm', { rootSessionId: 'storm' }).then(({ text }) => text, String);
    expect(Number(/bytes: (\d+)/.exec(message)?.[1])).toBeLessThan(20_000_000);
    await expect(definition('unread', { rootSessionId: 'unread' })).rejects.toThrow('has ended');
  }, 60_000);

  it('reports a refusal and an answer that is none', async () => {
    await expect(definition('refuse')).rejects.toThrow('refused textDocument/definition: I will not');
    await expect(definition('odd')).rejects.toThrow('something that the protocol does not know');
  });

  it('stops waiting when it is cancelled, and keeps the server', async () => {
    const controller = new AbortController();
    const asked = definition('silent', { signal: controller.signal });
    setTimeout(() => controller.abort(new Error('cancelled')), 300);
    await expect(asked).rejects.toThrow('cancelled');
    expect((await definition('list')).text).toContain('shown.ts');
  });

  it('ends with its session', async () => {
    await definition('list', { rootSessionId: 'short' });
    const before = running(`ODD_SERVER=${home}`);
    await codeProcesses.endSession('short');
    await until(() => running(`ODD_SERVER=${home}`) < before);
  });
});

describe('LSP', () => {
  it('asks where no jail holds the server', async () => {
    const context = contextFor('main.ts');
    const input = { operation: 'symbols', filePath: 'main.ts' } as const;
    expect(await tool.prepareHold(input, context)).toEqual({ kind: 'jail' });
    const { jail: _jail, ...others } = services;
    expect(await lspTool(others).prepareHold(input, context)).toMatchObject({ kind: 'none' });
    const off = createJail({
      ...{ host: processHost, ownPaths: [], readOnlyPaths: [], folder: join(home, 'off'), limits: DEFAULT_LIMITS },
      settings: { scope: 'off', isRequired: false, wordsAlone: false },
    });
    expect(await lspTool({ ...services, jail: off }).prepareHold(input, context)).toMatchObject({ kind: 'none' });
  });

  it('says what is missing before it asks anybody', async () => {
    const validate = (input: LspArguments) => tool.validateInput(input);
    expect(validate({ operation: 'symbols', filePath: 'main.py' })).toEqual({
      result: false,
      message:
        'There is no language server for .py files, only for .ts, .tsx, .odd. Use Grep and Read, or have "languageServers" set',
    });
    expect(validate({ operation: 'hover', filePath: 'main.ts', line: 1 })).toEqual({
      result: false,
      message: '"hover" needs `character`: point at the first letter of the name',
    });
    const far = { operation: 'hover', filePath: 'main.ts', line: 900, character: 1 } as const;
    await expect(ask(far)).rejects.toThrow('`line` is 900, and "main.ts" has 5 lines');
    await expect(ask({ ...far, line: 3, character: 900 })).rejects.toThrow('line 3 of "main.ts" has 29 characters');
  });

  it('is not enabled without a server, and says what to set', () => {
    const none = lspTool({ limits: DEFAULT_LIMITS, processHost });
    expect(none.isEnabled()).toBe(false);
    expect(none.disabledReason()).toContain('set "languageServers"');
    const absent = languageServerSettings({ py: { command: 'no-such-server', extensions: ['py'] } }, (path) => path);
    const missing = lspTool({ limits: DEFAULT_LIMITS, processHost, languageServers: absent, searchPath: '/usr/bin' });
    expect(missing.disabledReason()).toContain('"no-such-server" of "py"');
  });

  it('is drawn while its input streams in', () => {
    expect(tool.renderToolUseMessage({})).toEqual({ title: 'LSP …', subtitle: '…', blocks: [] });
    expect(tool.renderToolUseMessage({ operation: 'hover', filePath: 'a.ts', line: 2, character: 3 })).toMatchObject({
      title: 'LSP hover',
      subtitle: 'a.ts:2:3',
    });
    expect(tool.renderToolResultMessage({ title: '1 symbol', text: 'x' }, [], {}).title).toBe('1 symbol');
  });
});
