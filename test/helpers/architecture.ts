/**
 * What the house style demands of the tree, as functions from a folder to the sentences of what breaks it.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import ts from 'typescript';

/** Rooms, the lowest first; each may import from those before it, and itself. */
const ROOMS = ['config', 'src', 'tools', 'routes', 'bin'];
/** The same inside `src/`. */
const SRC_ROOMS =
  'base wire tool shell log permissions hooks pool files process tasks mcp call schedule session agents'.split(' ');
const FORBIDDEN_NAMES = /^(utils?|helpers?|types?|managers?|common)\.ts$/;
/** Tables of contents, and the wiring. */
const MAY_IMPORT_MUCH = [
  'src/call/execute.ts',
  'routes/app.ts',
  'tools/index.ts',
  'bin/gauntlet.ts',
  'bin/serve.ts',
  'bin/assemble.ts',
  'bin/engine-parts.ts',
  'bin/session-services.ts',
];
/** A table with a line of reason above each number. */
const MAX_IMPORTS = 20;
const MAX_LINES = 400;

/** One file of a room. */
export interface SourceFile {
  /** From the root, with forward slashes. */
  readonly path: string;
  readonly text: string;
  /** What it imports, types too, relative ones as paths from the root, packages by name. */
  readonly imports: readonly string[];
}

/** All TypeScript of the rooms below `root`. */
export function readSources(root: string): SourceFile[] {
  return ROOMS.flatMap((room) => filesBelow(join(root, room))).map((file) => readSource(root, file));
}

function readSource(root: string, file: string): SourceFile {
  const path = relative(root, file).split('\\').join('/');
  const text = readFileSync(file, 'utf8');
  const specifiers = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
  return { path, text, imports: [...new Set(specifiers)].map((specifier) => resolveImport(path, specifier)) };
}

/** Imports that climb a ladder, reach into another tool, or bring HTTP where none belongs. */
export function climbingImports(sources: readonly SourceFile[]): string[] {
  const tools = new Set(sources.filter(isOneFileTool).map(({ path }) => path));
  return sources.flatMap(({ path, imports }) =>
    imports.flatMap((target) => {
      const why = whyForbidden(path, target) ?? whyNoTool(path, target, tools);
      return why === undefined ? [] : [`${path} imports ${target}: ${why}`];
    }),
  );
}

/** Read the page of the console, which is no room of the server. */
export function readPage(root: string): SourceFile[] {
  return filesBelow(join(root, 'web'), /\.tsx?$/).map((file) => readSource(root, file));
}

/** Imports of the page that reach into the server: it speaks the public protocol alone. */
export function pageReaches(page: readonly SourceFile[]): string[] {
  return page.flatMap(({ path, imports }) =>
    imports.flatMap((target) =>
      isOurs(target) && !/^web\//.test(target) ? [`${path} imports ${target}: the console knows the client alone`] : [],
    ),
  );
}

/** Each cycle of imports once, as `a -> b -> a`. */
export function importCycles(sources: readonly SourceFile[]): string[] {
  const graph = new Map(sources.map(({ path, imports }) => [path, imports]));
  const finished = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) cycles.push([...trail.slice(start), path].join(' -> '));
    if (start >= 0 || finished.has(path)) return;
    for (const target of graph.get(path) ?? []) if (graph.has(target)) visit(target, [...trail, path]);
    finished.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  return cycles;
}

/** Files whose name says nothing, that are too long, import too much or begin without a word. */
export function misshapenFiles(sources: readonly SourceFile[]): string[] {
  return sources.flatMap(({ path, text, imports }) => {
    const lines = text.trimEnd().split('\n').length;
    return [
      ...(FORBIDDEN_NAMES.test(posix.basename(path)) ? [`${path}: name it after its one idea`] : []),
      ...(lines > MAX_LINES ? [`${path}: ${lines} lines; stop at ${MAX_LINES}`] : []),
      ...(imports.length > MAX_IMPORTS && !MAY_IMPORT_MUCH.includes(path)
        ? [`${path}: ${imports.length} imports; at most ${MAX_IMPORTS}`]
        : []),
      ...(/^(#!.*\n)?\/\*\*/.test(text) ? [] : [`${path}: begins without a header comment`]),
    ];
  });
}

/**
 * String literals in `src/` and `routes/` that are a tool's name.
 *
 * @param exempt Paths that may: the words of the permission rule language.
 */
export function toolNamesInside(sources: readonly SourceFile[], names: readonly string[], exempt: readonly string[]) {
  const known = new Set(names);
  return sources
    .filter(({ path }) => /^(src|routes)\//.test(path) && !exempt.includes(path))
    .flatMap(({ path, text }) =>
      stringLiterals(path, text).flatMap((word) => (known.has(word) ? [`${path} holds the tool name "${word}"`] : [])),
    );
}

/** Names and aliases that the tools below `tools/` give themselves. */
export function toolNames(sources: readonly SourceFile[]): string[] {
  return sources
    .filter(({ path }) => path.startsWith('tools/'))
    .flatMap(({ text }) => [...text.matchAll(/^\s*(?:name: |export const \w+_NAME = )'([A-Z]\w*)'/gm)])
    .map((match) => match[1] ?? '');
}

function whyForbidden(from: string, to: string): string | undefined {
  const [room = '', folder = ''] = from.split('/');
  const [targetRoom = '', targetFolder = ''] = to.split('/');
  if ((room === 'src' || room === 'tools') && /^(@fastify\/|fastify)/.test(to)) return 'HTTP belongs to routes/';
  if (room === 'config' && targetRoom !== 'config' && isOurs(to)) return 'config imports nothing of ours';
  if (!isOurs(to)) return undefined;
  if (ROOMS.indexOf(targetRoom) > ROOMS.indexOf(room)) return 'imports go down only';
  if (room === 'src' && targetRoom === 'src') {
    if (!SRC_ROOMS.includes(folder)) return `src/${folder} has no place on the ladder`;
    if (SRC_ROOMS.indexOf(targetFolder) > SRC_ROOMS.indexOf(folder)) return 'inside src, imports go to the left only';
  }
  const [tool, targetTool] = [toolFolder(from), toolFolder(to)];
  return tool && targetTool && tool !== targetTool ? "a tool never imports another's insides" : undefined;
}

/** `tools/<domain>/<tool>.ts`: only lists of tools may import it. */
function whyNoTool(from: string, to: string, tools: ReadonlySet<string>): string | undefined {
  const isListed = posix.basename(from) === 'index.ts' && to.startsWith(`${posix.dirname(from)}/`);
  return tools.has(to) && !isListed ? "a tool never imports another's insides" : undefined;
}

function isOneFileTool({ path, text }: SourceFile): boolean {
  return /^tools\/[^/]+\/[^/]+\.ts$/.test(path) && text.includes('buildTool({');
}

/** `tools/<domain>/<tool>` of a file that lies in one. */
function toolFolder(path: string): string | undefined {
  return /^tools\/[^/]+\/[^/]+(?=\/)/.exec(path)?.[0];
}

function isOurs(path: string): boolean {
  return /^(config|src|tools|routes|bin|test|bench|examples|web)\//.test(path);
}

function resolveImport(from: string, specifier: string): string {
  return specifier.startsWith('.') ? posix.join(dirname(from), specifier) : specifier;
}

function filesBelow(folder: string, names = /\.ts$/): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && names.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function stringLiterals(path: string, text: string): string[] {
  const words: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) words.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest));
  return words;
}
