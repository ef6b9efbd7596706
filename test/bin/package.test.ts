/** The package that `npm publish` would send. `npm run test:package` makes it and installs it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeAll, describe, expect, it } from 'vitest';
import { setup } from '../../bin/setup.mjs';

const root = join(import.meta.dirname, '../..');
/** Parts of the bundle, what is read at run time, and the licenses of what is bundled. */
const BUILT =
  /^dist\/((gauntlet|process-host|page-worker|swagger-ui-bundle|[\w.-]+-[A-Z0-9]{8})\.js|repl-process\.cjs|swagger-ui\.css|licenses\.txt|console\/index\.html|console\/assets\/[\w.-]+-[\w-]{8}\.(js|css|svg))$/;
const WORDS = ['CHANGELOG.md', 'LICENSE', 'PROTOCOL.md', 'README.md', 'package.json'];
let paths: readonly string[];

beforeAll(async () => {
  await setup({ forTests: true, programs: false });
  // What was built is listed as it is: `prepack` would build it again, under the feet of other tests.
  const { stdout } = await execa('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root });
  const [{ files }] = JSON.parse(stdout) as [{ files: readonly { path: string }[] }];
  paths = files.map(({ path }) => path).sort();
});

describe('the package', () => {
  it('holds the build and a few pages, and no source, test, source map or stamp', () => {
    const built = paths.filter((path) => path.startsWith('dist/'));
    expect(paths.filter((path) => !path.startsWith('dist/'))).toEqual(WORDS);
    expect(built.filter((path) => !BUILT.test(path))).toEqual([]);
    const programs = ['dist/gauntlet.js', 'dist/process-host.js', 'dist/page-worker.js', 'dist/repl-process.cjs'];
    const entries = [...programs, 'dist/console/index.html'];
    expect(built).toEqual(expect.arrayContaining(entries));
  });

  it('names no folder of the machine that built it', () => {
    const telling = paths.filter((path) => readFileSync(join(root, path), 'utf8').includes(root.replace(/\/$/, '')));
    expect(telling).toEqual([]);
  });

  it('starts its command by Node', () => {
    expect(readFileSync(join(root, 'dist/gauntlet.js'), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  it('has the license of every package that is bundled', () => {
    const licenses = readFileSync(join(root, 'dist/licenses.txt'), 'utf8');
    for (const name of ['fastify', 'zod', 'ws', '@fastify/swagger-ui']) {
      const { version } = JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')) as {
        version: string;
      };
      expect(licenses).toMatch(new RegExp(`^${name} ${version} \\(.*\\)$`, 'm'));
    }
  });
});

describe('the development container', () => {
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  const stages = [...read('Dockerfile').matchAll(/^FROM \S+ AS (\S+)$/gm)].map(([, name]) => name);

  it("opens a stage of the image's own Dockerfile, and makes it ready as any clone is", () => {
    const text = read('.devcontainer/devcontainer.json').replace(/^\s*\/\/.*$/gm, '');
    const { build, postCreateCommand } = JSON.parse(text) as {
      build: { dockerfile: string; context: string; target: string };
      postCreateCommand: string;
    };
    expect(existsSync(join(root, '.devcontainer', build.dockerfile))).toBe(true);
    expect(stages).toContain(build.target);
    expect(postCreateCommand).toBe('node bin/setup.mjs --for-tests');
  });

  it('and the compose file build from the same steps', () => {
    expect(read('deploy/compose.yaml')).toMatch(/^ +build: \.\.$/m);
    expect(stages).toEqual(['base', 'build']);
  });
});
