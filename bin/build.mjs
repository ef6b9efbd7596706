/**
 * Builds `dist/`: the server in one bundle with lazy chunks beside it, the process host and the thread that
 * reads web pages in others, and the page of the console in a folder of its own.
 *
 * Bundled, a start reads a dozen files instead of a thousand: 200 ms instead of 560, measured side by side. What is
 * bundled is a development dependency; what is not, a dependency.
 *
 * With `--for-package` nothing else is in `dist/`: no source maps, which name folders of this machine, and no parts of
 * earlier builds.
 */
import { copyFileSync, existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { build as buildPage } from 'vite';
import { sourceDigest, writeBuildStamp } from './build-stamp.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const isForPackage = process.argv.includes('--for-package');
/**
 * What stays outside: packages that find native parts or files of their own beside them, and those that are loaded late
 * or never, so that most starts need not read them.
 */
const { version, dependencies, optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** Dependencies in the older module format call these. */
const banner = [
  "import { createRequire as gauntletCreateRequire } from 'node:module';",
  "import { fileURLToPath as gauntletFileURLToPath } from 'node:url';",
  'const require = gauntletCreateRequire(import.meta.url);',
  'const __filename = gauntletFileURLToPath(import.meta.url);',
  "const __dirname = gauntletFileURLToPath(new URL('.', import.meta.url));",
].join('\n');

const entryPoints = {
  gauntlet: 'bin/gauntlet.ts',
  'process-host': 'src/process/host/main.ts',
  'page-worker': 'tools/web/web-fetch/page-worker.ts',
};
const swagger = dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui/package.json'));
/** Read at run time: the REPL's program, as text for a process that may open no file, and the files of `/docs`. */
const copies = {
  'repl-process.cjs': join(root, 'tools/code/repl/repl-process.cjs'),
  'swagger-ui.css': join(swagger, 'static/swagger-ui.css'),
  'swagger-ui-bundle.js': join(swagger, 'static/swagger-ui-bundle.js'),
};
const present = Object.entries(entryPoints).filter(([, path]) => existsSync(`${root}/${path}`));

const digest = sourceDigest(root);
// A test that starts a build has another, by which the page would get React's build for developers.
process.env.NODE_ENV = 'production';
const building = buildPage({
  configFile: join(root, 'web/vite.config.ts'),
  define: { 'import.meta.env.VITE_SERVER_VERSION': JSON.stringify(version) },
});
const { metafile } = await build({
  metafile: true,
  absWorkingDir: root,
  entryPoints: Object.fromEntries(present),
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  external: Object.keys({ ...dependencies, ...optionalDependencies }),
  // Its default entry is in UMD, which bundlers cannot follow.
  alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
  banner: { js: banner },
  sourcemap: !isForPackage,
  // Names stay readable in stack traces; whitespace and syntax are minified.
  minifyWhitespace: true,
  minifySyntax: true,
  logLevel: 'warning',
}).catch(() => process.exit(1)); // esbuild has said why
for (const [name, path] of Object.entries(copies)) copyFileSync(path, join(root, 'dist', name));
const page = await building.catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});
const pageModules = page.output.flatMap(({ moduleIds = [] }) => moduleIds).map((id) => relative(root, id));
writeFileSync(join(root, 'dist', 'licenses.txt'), licenses([...Object.keys(metafile.inputs), ...pageModules]));
removeOldParts([...Object.keys(metafile.outputs), ...Object.keys(copies).map((name) => `dist/${name}`)]);
writeBuildStamp(root, digest);

/** Remove parts of earlier builds after a day: a running server loads its own parts on demand. */
function removeOldParts(outputs) {
  const yesterdayMs = Date.now() - 24 * 60 * 60_000;
  for (const name of readdirSync(`${root}/dist`)) {
    const path = `dist/${name}`;
    if (!/\.js(\.map)?$/.test(name) || outputs.includes(path)) continue;
    if (isForPackage || statSync(`${root}/${path}`).mtimeMs < yesterdayMs) rmSync(`${root}/${path}`);
  }
}

/** Collect the licenses of the packages that are bundled or copied, as most of them demand of copies. */
function licenses(inputs) {
  const packages = [...inputs, join(swagger, 'package.json')].flatMap(
    (path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [],
  );
  return [...new Set(packages)]
    .sort()
    .map(licenseOf)
    .join(`\n${'-'.repeat(80)}\n\n`);
}

function licenseOf(folder) {
  const path = resolve(root, folder);
  const { name, version, license } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
  const files = readdirSync(path).filter((file) => /^(licen[cs]e|copying|notice)\b/i.test(file));
  const texts = files.map((file) => readFileSync(join(path, file), 'utf8').trim());
  return [`${name} ${version} (${license ?? 'see below'})`, ...texts].join('\n\n') + '\n';
}
