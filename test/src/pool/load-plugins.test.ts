/** Plugins as people write them: modules in a folder of their own. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadPlugins } from '../../../src/pool/load-plugins.ts';
import { plainTool } from '../../helpers/plain-tool.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { allowEverything, parentMessage, toolUseContextIn } from '../../helpers/tool-use-context.ts';

const baseFolder = temporaryFolder();
const require = createRequire(import.meta.url);
const imports = `import { z } from '${require.resolve('zod')}'; import { z as z3 } from '${require.resolve('zod/v3')}';`;
const builtIns = [plainTool('Bash', { aliases: ['Shell'] })];
let files = 0;

const greet = `{
  name: 'Greet',
  prompt: 'Greets',
  inputSchema: z.strictObject({ name: z.string().describe('Who'), loud: z.boolean().default(false) }),
  isReadOnly: () => true,
  call: async ({ name, loud }) => ({ data: loud ? name.toUpperCase() : name }),
}`;

/** Write a module into the settings file's folder. @returns Its path from there. */
function write(source: string, path = `plugin-${files++}.mjs`): string {
  const file = join(baseFolder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, path.endsWith('.mjs') ? `${imports}\n${source}` : source);
  return `./${path}`;
}

function load(...specifiers: string[]) {
  return loadPlugins(specifiers, {
    baseFolder,
    builtIns,
    limits: { resultChars: 7_000 },
  });
}

describe('a plugin', () => {
  test('need only say what it does; the rest is answered no', async () => {
    const specifier = write(`export default ${greet}`);
    const [tool] = await load(specifier);

    expect(tool).toMatchObject({ name: 'Greet', origin: { type: 'plugin', name: specifier } });
    expect(Object.isFrozen(tool)).toBe(true);
    expect(tool?.prompt({ toolNames: [] })).toBe('Greets');
    expect([tool?.isReadOnly({}), tool?.isConcurrencySafe({}), tool?.maxResultSizeChars]).toEqual([true, false, 7_000]);
    const input = tool?.inputSchema.parse({ name: 'ada', loud: true }) ?? {};
    const result = await tool?.call(input, toolUseContextIn(baseFolder), allowEverything, parentMessage);
    expect(tool?.mapToolResultToToolResultBlockParam(result?.data, 'call-1').content).toBe('ADA');
  });

  test('may export a list, and lie in a package', async () => {
    const entry = `${imports} export default [${greet}, { ...${greet}, name: 'Part' }]`;
    write(entry, 'node_modules/import-only/index.js');
    write(
      '{"type":"module","exports":{".":{"types":"./x.d.ts","import":"./index.js"}}}',
      'node_modules/import-only/package.json',
    );
    write(
      `exports.default = undefined; module.exports = { name: 'Common', prompt: 'x', inputSchema: require('${require.resolve('zod')}').z.object({}), call() {} }`,
      'node_modules/common/index.js',
    );

    const tools = await load('import-only', 'common');
    expect(tools.map(({ name }) => name)).toEqual(['Greet', 'Part', 'Common']);
  });

  test('written with Zod 3 is judged by Zod 3', async () => {
    const schema = `z3.object({ when: z3.string().min(3), tags: z3.array(z3.string()).default([]) }).strict()`;
    const [tool] = await load(write(`export default { ...${greet}, inputSchema: ${schema} }`));

    expect(tool?.inputJSONSchema).toMatchObject({ type: 'object', required: ['when'], additionalProperties: false });
    expect(tool?.inputSchema.parse({ when: 'now' })).toEqual({ when: 'now', tags: [] });
    const issues = tool?.inputSchema.safeParse({ when: 'now', tags: ['a', 7] }).error?.issues;
    expect(issues?.map(({ path }) => path)).toEqual([['tags', 1]]);
  });
});

describe('a plugin that cannot be used', () => {
  const cases: [string, string, RegExp][] = [
    ['throws', `throw new Error('no licence')`, /no licence/],
    ['exports nothing', '', /it has no default export: one tool or a list/],
    ['exports something else', 'export default 7', /export 0 is not one: "default export": .*object/],
    ['exports an empty list', 'export default []', /list of tools is empty/],
    [
      'has a bad name',
      `export default { ...${greet}, name: 'a b' }`,
      /tool "a b" is not one: "name": expected 1 to 64/,
    ],
    ['takes the name of a server', `export default { ...${greet}, name: 'mcp__x__y' }`, /"mcp__"/],
    [
      'takes the name of a built-in',
      `export default { ...${greet}, name: 'Bash' }`,
      /takes the name "Bash" of a built-in/,
    ],
    ['takes the alias of a built-in', `export default { ...${greet}, aliases: ['Shell'] }`, /takes the name "Shell"/],
    [
      'takes the alias of a built-in that is off',
      `export default { ...${greet}, aliases: ['FileRead'] }`,
      /takes the name "FileRead" of a built-in/,
    ],
    ['has the same name twice', `export default [${greet}, ${greet}]`, /takes the name "Greet" of the plugin/],
    ['has no call', `export default { ...${greet}, call: 7 }`, /"call": expected a function/],
    [
      'has a gate that is no function',
      `export default { ...${greet}, isReadOnly: true }`,
      /"isReadOnly": expected a function/,
    ],
    [
      'has no schema',
      `export default { ...${greet}, inputSchema: { type: 'object' } }`,
      /"inputSchema": expected a Zod schema/,
    ],
    [
      'wants a date',
      `export default { ...${greet}, inputSchema: z.object({ at: z.date() }) }`,
      /"inputSchema": .*JSON Schema/,
    ],
    [
      'wants a text',
      `export default { ...${greet}, inputSchema: z.string() }`,
      /"inputSchema": expected the schema of an object/,
    ],
  ];

  test.each(cases)('stops the start when it %s', async (_case, source, message) => {
    const specifier = write(source);
    await expect(load(specifier)).rejects.toMatchObject({
      code: 'invalid_setting',
      message: expect.stringMatching(new RegExp(`Cannot load the plugin "${specifier}".*${message.source}`)),
    });
  });

  test('stops the start when it never loads', async () => {
    const specifier = write('await new Promise(() => setTimeout(() => {}, 1000))');
    const loading = loadPlugins([specifier], {
      baseFolder,
      builtIns,
      limits: { resultChars: 7_000 },
      loadMs: 100,
    });
    await expect(loading).rejects.toThrow('did not load within 100 ms');
  });

  test('stops the start when it does not exist', async () => {
    await expect(load('./missing.mjs')).rejects.toMatchObject({ code: 'invalid_setting' });
    await expect(load('no-such-package')).rejects.toThrow(
      'Cannot load the plugin "no-such-package": Cannot find module \'no-such-package\'. Correct it or take it out of "plugins"',
    );
  });
});
