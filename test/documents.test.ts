/** Documents name what exists: files, links, the functions on a block's path, and every decision in its index. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../config/limits.ts';
import { settingsFileSchema } from '../config/settings/schema.ts';
import { frameFields, framePage } from './helpers/frame-tables.ts';

const root = join(import.meta.dirname, '..');
/** `CHANGELOG.md` tells of what was, so it may name what is gone. */
const pages = [
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'PROTOCOL.md',
  'README.md',
  'bench/README.md',
  'client/python/README.md',
  ...pagesBelow('docs'),
];
const decisions = readdirSync(join(root, 'docs/decisions')).filter((name) => name !== 'README.md');
const topFolders = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

function pagesBelow(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)));
}

function read(page: string): string {
  return readFileSync(join(root, page), 'utf8');
}

function withoutFences(text: string): string {
  return text.replace(/^```[^]*?^```/gm, '');
}

/** Paths of this repository in code spans; placeholders (`<domain>`) and globs are none. */
function namedPaths(text: string): readonly string[] {
  const spans = [...withoutFences(text).matchAll(/`([^`\s]+)`/g)].map(([, span = '']) => span);
  return spans.filter(
    (span) => !/[<>*…{]/.test(span) && topFolders.includes(span.split('/')[0] ?? '') && span.includes('/'),
  );
}

function links(text: string): readonly string[] {
  return [...withoutFences(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !target.includes('://'));
}

function leadsSomewhere(page: string, target: string): boolean {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? page : join(dirname(page), path);
  if (!existsSync(join(root, file))) return false;
  return anchor === undefined || anchors(read(file)).includes(anchor);
}

/** As GitHub makes the address of a heading. */
function anchors(text: string): readonly string[] {
  return [...withoutFences(text).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** Rows of a table whose first cell is a file and whose second cell lists names in it. */
function namesByFile(text: string): readonly { readonly file: string; readonly name: string }[] {
  return [...text.matchAll(/^\| `([^`]+\.ts)` \| ([^|]+) \|/gm)].flatMap(([, file = '', names = '']) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => ({ file, name })),
  );
}

function isDefined(file: string, name: string): boolean {
  return (
    existsSync(join(root, file)) &&
    new RegExp(`(?:function\\*? |class |const |  (?:async )?)${name}\\b`).test(read(file))
  );
}

describe('documents', () => {
  it('name only files and folders that exist', () => {
    const missing = pages.flatMap((page) =>
      namedPaths(read(page)).flatMap((path) => (existsSync(join(root, path)) ? [] : [`${page}: ${path}`])),
    );
    expect(missing).toEqual([]);
  });

  it('link only to pages and headings that exist', () => {
    const broken = pages.flatMap((page) =>
      links(read(page)).flatMap((target) => (leadsSomewhere(page, target) ? [] : [`${page}: ${target}`])),
    );
    expect(broken).toEqual([]);
  });
});

describe('docs/settings.md', () => {
  it('names every key of the settings file', () => {
    const text = read('docs/settings.md');
    expect(Object.keys(settingsFileSchema.shape).filter((key) => !text.includes(`\`${key}\``))).toEqual([]);
  });

  it('lists every limit with its default, in the order of the code', () => {
    const rows = [...read('docs/settings.md').matchAll(/^\| `(\w+)` \| ([^|]+) \| [^|]+ \| [^|]+ \|$/gm)];
    const listed = rows.map(([, name, shown]) => [name, shown]);
    expect(listed).toEqual(Object.entries(DEFAULT_LIMITS).map(([name, value]) => [name, withUnit(name, value)]));
  });
});

describe('docs/frames.md', () => {
  it('says of every frame what its schema says', async () => {
    await expect(framePage()).toMatchFileSnapshot('../docs/frames.md');
  });

  it('has a meaning for every field', () => {
    expect(frameFields().filter(({ meaning }) => meaning === '')).toEqual([]);
  });
});

/** A number as people read it: `4 MiB`, `10 min`, `2,000`. The name of a limit ends in its unit. */
function withUnit(name: string, value: number): string {
  const [, suffix = ''] = /(Bytes|Ms|Chars|Days)$/.exec(name) ?? [];
  const units = UNITS[suffix] ?? [[1, '']];
  const [size, unit] = units.find(([size]) => value % size === 0) ?? [1, ''];
  return `${(value / size).toLocaleString('en')} ${unit}`.trim();
}

/** By the end of a name: how large each unit is, the largest first. */
const UNITS: Readonly<Record<string, readonly (readonly [number, string])[]>> = {
  Bytes: [
    [2 ** 30, 'GiB'],
    [2 ** 20, 'MiB'],
    [2 ** 10, 'KiB'],
  ],
  Ms: [
    [60_000, 'min'],
    [1_000, 's'],
    [1, 'ms'],
  ],
  Chars: [[1, 'characters']],
  Days: [[1, 'days']],
};

describe("a block's path in ARCHITECTURE.md", () => {
  const stations = namesByFile(read('ARCHITECTURE.md'));

  it('has stations', () => expect(stations.length).toBeGreaterThan(20));

  it('names functions and methods of its files', () => {
    expect(stations.filter(({ file, name }) => !isDefined(file, name))).toEqual([]);
  });
});

describe('a decision', () => {
  it.each(decisions)('%s says what, why and what was given up, and stands in the index', (file) => {
    const [title = '', ...headings] = [...read(`docs/decisions/${file}`).matchAll(/^#+ (.*)$/gm)].map(
      ([, text]) => text,
    );
    const number = file.slice(0, 4);
    expect(headings).toEqual(['What', 'Why', 'What was given up']);
    expect(title).toMatch(new RegExp(`^${number}\\. `));
    expect(read('docs/decisions/README.md')).toContain(`| [${number}](${file}) | ${title.slice(6)} | `);
  });

  it('has a number of its own', () => {
    const numbers = decisions.map((file) => file.slice(0, 4));
    expect(new Set(numbers).size).toBe(numbers.length);
  });
});
