/** Schemas of frames and replies cost milliseconds to build, and only the description of the API needs them. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const LAZY = [
  ...['blocks', 'call-replies', 'control-frames', 'decision', 'display', 'file-change', 'frames'],
  ...['permission-context', 'server-replies', 'session-replies', 'values'],
].map((name) => join(ROOT, `src/wire/${name}.ts`));

/** Files that a file loads at once, itself first: what it imports for types only, or lazily, is none of them. */
function loadedFrom(entry: string): ReadonlySet<string> {
  const loaded = new Set<string>();
  const visit = (file: string): void => {
    if (loaded.has(file)) return;
    loaded.add(file);
    for (const target of importsOf(file)) visit(join(dirname(file), target));
  };
  visit(entry);
  return loaded;
}

function importsOf(file: string): readonly string[] {
  const { statements } = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
  return statements.flatMap((statement) => {
    const isImport = ts.isImportDeclaration(statement) && statement.importClause?.isTypeOnly !== true;
    const isExport = ts.isExportDeclaration(statement) && !statement.isTypeOnly;
    if (!isImport && !isExport) return [];
    const { moduleSpecifier } = statement;
    const isOurs = moduleSpecifier && ts.isStringLiteral(moduleSpecifier) && /^\..*\.ts$/.test(moduleSpecifier.text);
    return isOurs ? [moduleSpecifier.text] : [];
  });
}

describe('a start of the server', () => {
  it('builds no schema of a frame or reply', () => {
    const loaded = loadedFrom(join(ROOT, 'bin/serve.ts'));
    expect(loaded).toContain(join(ROOT, 'src/wire/block-schema.ts'));
    expect(LAZY.filter((file) => loaded.has(file))).toEqual([]);
  });

  it('builds them for the description of the API', () => {
    const loaded = loadedFrom(join(ROOT, 'routes/api/reply-schemas.ts'));
    expect(LAZY.filter((file) => !loaded.has(file))).toEqual([]);
  });
});
