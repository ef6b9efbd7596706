/**
 * Builds `client/dist/`: each file of `client/src/` as JavaScript for every platform, with its types beside it.
 *
 * The types of the wire are printed out whole, so that the package needs neither the server's sources nor Zod.
 *
 * `node client/build.mjs [FOLDER]`
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const JSON_VALUE =
  'export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };\n';

const client = fileURLToPath(new URL('.', import.meta.url));
const source = join(client, 'src');
const target = resolve(process.argv[2] ?? join(client, 'dist'));

const config = ts.getParsedCommandLineOfConfigFile(
  join(client, 'tsconfig.json'),
  {
    ...{ noEmit: false, declaration: true, rewriteRelativeImportExtensions: true, rootDir: dirname(client) },
    // What all platforms have, not the types of Node: what only Node has is an error here.
    ...{ types: [], lib: ['es2023', 'es2024.string', 'dom', 'dom.asynciterable'].map((name) => `lib.${name}.d.ts`) },
  },
  { ...ts.sys, onUnRecoverableConfigFileDiagnostic: fail },
);
const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => join(source, name));
const program = ts.createProgram(files, { ...config?.options, outDir: target });
const checker = program.getTypeChecker();
const own = program.getSourceFiles().filter(({ fileName }) => files.includes(resolve(fileName)));

const problems = own.flatMap((file) => [
  ...program.getSyntacticDiagnostics(file),
  ...program.getSemanticDiagnostics(file),
]);
if (problems.length > 0) fail(...problems);

rmSync(target, { recursive: true, force: true });
for (const file of own) {
  const { emitSkipped, diagnostics } = program.emit(file, (path, text) => {
    const to = join(target, relative(join(target, 'client/src'), path));
    mkdirSync(dirname(to), { recursive: true });
    // Types keep the extension of the sources, which are not in the package.
    writeFileSync(to, path.endsWith('.d.ts') ? text.replace(/(from '\.[^']*)\.ts'/g, "$1.js'") : text);
  });
  if (emitSkipped || diagnostics.length > 0) fail(...diagnostics);
}
const wire = own.find(({ fileName }) => relative(source, fileName) === 'wire.ts');
writeFileSync(join(target, 'wire.d.ts'), wire === undefined ? '' : printedTypes(wire));

/** Print the types that a file exports, with everything that they are made of. */
function printedTypes(file) {
  const symbols = checker.getExportsOfModule(checker.getSymbolAtLocation(file));
  const texts = symbols.map((symbol) => {
    const type = checker.getDeclaredTypeOfSymbol(checker.getAliasedSymbol(symbol));
    return `export type ${symbol.name} = ${printed(type, 0)};\n`;
  });
  return [...texts, JSON_VALUE].join('\n');
}

/** Print a type by its structure. Of named types only that of any JSON value is kept, which holds itself. */
function printed(type, depth) {
  if (depth > 30) throw new Error(`A type of the wire holds itself: ${checker.typeToString(type)}`);
  if (/^Json(Value|Object)$/.test(type.aliasSymbol?.name ?? '')) return jsonType(type.aliasSymbol.name);
  if (type.isUnion()) return printedUnion(type, depth);
  if (type.isIntersection()) return printedObject(type, depth);
  if (checker.isArrayType(type)) {
    const [item] = checker.getTypeArguments(type);
    const text = printed(item, depth);
    return `readonly ${item.isUnion() || checker.isArrayType(item) ? `(${text})` : text}[]`;
  }
  if (type.flags & ts.TypeFlags.Object) return printedObject(type, depth);
  return checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation);
}

function jsonType(name) {
  return name === 'JsonValue' ? name : '{ readonly [key: string]: JsonValue }';
}

/** A field that may be absent says so by its question mark. */
function printedUnion({ types }, depth) {
  const texts = types.filter((each) => !(each.flags & ts.TypeFlags.Undefined)).map((each) => printed(each, depth));
  return [...new Set(texts)].join(' | ').replace(/\bfalse \| true\b/, 'boolean');
}

function printedObject(type, depth) {
  const indent = '  '.repeat(depth + 1);
  const index = checker.getIndexInfosOfType(type).map(({ type: value }) => {
    return `${indent}readonly [key: string]: ${printed(value, depth + 1)};`;
  });
  const fields = checker.getPropertiesOfType(type).map((property) => {
    const mark = property.flags & ts.SymbolFlags.Optional ? '?' : '';
    return `${indent}readonly ${property.name}${mark}: ${printed(checker.getTypeOfSymbol(property), depth + 1)};`;
  });
  return `{\n${[...index, ...fields].join('\n')}\n${'  '.repeat(depth)}}`;
}

/** @param {...ts.Diagnostic} diagnostics What the compiler found. */
function fail(...diagnostics) {
  const host = { getCurrentDirectory: () => client, getCanonicalFileName: (name) => name, getNewLine: () => '\n' };
  process.stderr.write(ts.formatDiagnostics(diagnostics, host));
  process.exit(1);
}
