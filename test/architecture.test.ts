/** The tree keeps the promises of ARCHITECTURE.md: two ladders, no cycles, small files, no tool named inside. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  climbingImports,
  importCycles,
  misshapenFiles,
  pageReaches,
  readPage,
  readSources,
  toolNames,
  toolNamesInside,
  type SourceFile,
} from './helpers/architecture.ts';
import { temporaryFolder } from './helpers/temporary-folder.ts';

/** Where a tool's name is a word of the permission rule language, or of shell syntax. */
const RULE_WORDS = [
  'src/permissions/rule-names.ts',
  // The parser calls a node of its tree "Glob".
  'src/shell/node-problem.ts',
  'src/shell/word.ts',
];

describe('the tree', () => {
  const sources = readSources(join(import.meta.dirname, '..'));

  it('imports downwards only', () => {
    expect(climbingImports(sources)).toEqual([]);
  });

  it('has no import cycles', () => {
    expect(importCycles(sources)).toEqual([]);
  });

  it('has small files, named after one idea, with a header', () => {
    expect(misshapenFiles(sources)).toEqual([]);
  });

  it('keeps the page of the console outside: it speaks the protocol through the client', () => {
    const page = readPage(join(import.meta.dirname, '..'));
    expect(page.length).toBeGreaterThan(20);
    expect(pageReaches(page)).toEqual([]);
    expect(importCycles(page)).toEqual([]);
    expect(misshapenFiles(page).filter((problem) => !problem.startsWith('web/src/texts.ts'))).toEqual([]);
  });

  it('names no tool inside src/ and routes/', () => {
    expect(toolNames(sources)).toContain('Bash');
    expect(toolNamesInside(sources, toolNames(sources), RULE_WORDS)).toEqual([]);
  });
});

describe('the check of the tree', () => {
  const root = temporaryFolder();

  function tree(files: Record<string, string>): SourceFile[] {
    const folder = join(root, `tree-${Math.random().toString(36).slice(2)}`);
    for (const room of ['config', 'src', 'tools', 'routes', 'bin']) mkdirSync(join(folder, room), { recursive: true });
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    return readSources(folder);
  }

  it.each([
    ['up a room', 'src/call/a.ts', "import '../../routes/b.ts'"],
    ['from config to ours', 'config/a.ts', "export * from '../src/tool/b.ts'"],
    ['to the right inside src', 'src/log/a.ts', "import { b } from '../call/b.ts'"],
    ['to the right, types only', 'src/log/a.ts', "import type { B } from '../call/b.ts'"],
    ['to the right, lazily', 'src/log/a.ts', "const b = await import('../call/b.ts')"],
    ['to the right, inside a type', 'src/log/a.ts', "type B = import('../call/b.ts').B"],
    ['from a folder that is on no ladder', 'src/extra/a.ts', "import '../tool/b.ts'"],
    ['into another tool', 'tools/files/read/a.ts', "import '../edit/b.ts'"],
    ['of fastify in a tool', 'tools/files/read/a.ts', "import type { FastifyInstance } from 'fastify'"],
  ])('finds an import %s', (_title, path, text) => {
    expect(climbingImports(tree({ [path]: text }))).toHaveLength(1);
  });

  it('finds an import of a tool that is one file', () => {
    const files = { 'tools/lists/todo.ts': 'buildTool({', 'tools/lists/other.ts': "import './todo.ts'" };
    expect(climbingImports(tree(files))).toHaveLength(1);
    expect(
      climbingImports(tree({ ...files, 'tools/lists/other.ts': '', 'tools/lists/index.ts': "import './todo.ts'" })),
    ).toEqual([]);
  });

  it('lets imports go down and to the left', () => {
    const text = "import '../../config/limits.ts'; import '../tool/b.ts'; import './c.ts'; import 'zod';";
    expect(climbingImports(tree({ 'src/call/a.ts': text }))).toEqual([]);
  });

  it('finds a cycle, types included', () => {
    const files = { 'src/call/a.ts': "import './b.ts'", 'src/call/b.ts': "import type { A } from './a.ts'" };
    expect(importCycles(tree(files))).toEqual(['src/call/a.ts -> src/call/b.ts -> src/call/a.ts']);
  });

  it('finds what is wrong with the shape of a file', () => {
    const imports = Array.from({ length: 21 }, (_, index) => `import './${index}.ts';`).join('\n');
    const text = `${imports}\n${'// a line\n'.repeat(382)}`;
    const [name, lines, many, header] = misshapenFiles(tree({ 'src/call/utils.ts': text }));
    expect(name).toContain('one idea');
    expect(lines).toContain('403 lines');
    expect(many).toContain('21 imports');
    expect(header).toContain('header');
  });

  it("finds a tool's name in a string of src/", () => {
    const files = tree({
      'tools/shell/bash/index.ts': "export const BashTool = buildTool({\n  name: 'Bash',\n});",
      'src/call/a.ts': "if (name === 'Bash') run(); // 'Bash' in a comment is none",
    });
    expect(toolNamesInside(files, toolNames(files), [])).toEqual(['src/call/a.ts holds the tool name "Bash"']);
    expect(toolNamesInside(files, toolNames(files), ['src/call/a.ts'])).toEqual([]);
  });
});
