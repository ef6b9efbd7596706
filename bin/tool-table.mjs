/**
 * Writes README's table of tools from the list of a server without settings: `npm run docs`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setup } from './setup.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const MARKS = /(<!-- tools -->\n)[^]*?(\n<!-- end of tools -->)/;

/**
 * Environment of the server whose list is shown, besides its folders. No program is found there, so that the table is
 * the same on every machine.
 */
export const PLAIN_ENVIRONMENT = Object.freeze({ PATH: '/nonexistent' });

/**
 * @typedef {object} ListedTool Entry of `GET /tools?format=full`.
 * @property {string} name
 * @property {string} description
 * @property {readonly string[]} aliases
 * @property {string} state
 */

/**
 * Return README with the table of these tools.
 *
 * @param {string} readme
 * @param {readonly ListedTool[]} tools
 * @throws {Error} If README lacks the marks around the table.
 */
export function withToolTable(readme, tools) {
  if (!MARKS.test(readme)) throw new Error('README.md has no marks <!-- tools --> and <!-- end of tools -->');
  return readme.replace(MARKS, (_all, begin, end) => `${begin}\n${toolTable(tools)}\n${end}`);
}

/** @param {readonly ListedTool[]} tools */
function toolTable(tools) {
  const rows = tools
    .toSorted((left, right) => (left.name < right.name ? -1 : 1))
    .map(({ name, aliases, description, state }) => {
      const names = [`\`${name}\``, ...(aliases.length > 0 ? [`(${aliases.join(', ')})`] : [])].join(' ');
      return `| ${names} | ${cell(firstSentence(description))} | ${cell(state.replace(/^enabled$|^not enabled: /, ''))} |`;
    });
  return ['| tool | does | not listed by default, because |', '|---|---|---|', ...rows].join('\n');
}

/** @param {string} text */
function firstSentence(text) {
  const [line = ''] = text.trimStart().split('\n', 1);
  const end = line.search(/[.!?](\s|$)/u);
  return end < 0 ? line : line.slice(0, end);
}

/** @param {string} text */
function cell(text) {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

async function writeTable() {
  await setup({ forTests: true, programs: false });
  const home = mkdtempSync(join(tmpdir(), 'gauntlet-docs-'));
  const token = 'docs-token-0123456789abcdef';
  const environment = { ...PLAIN_ENVIRONMENT, HOME: home, GAUNTLET_PORT: '0', GAUNTLET_TOKEN: token };
  const server = spawn(process.execPath, [join(ROOT, 'dist/gauntlet.js'), 'serve'], {
    cwd: ROOT,
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const url = await listening(server);
    const reply = await fetch(`${url}/tools?format=full`, { headers: { authorization: `Bearer ${token}` } });
    const { tools } = /** @type {{ tools: ListedTool[] }} */ (await reply.json());
    const path = join(ROOT, 'README.md');
    writeFileSync(path, withToolTable(readFileSync(path, 'utf8'), tools));
  } finally {
    server.kill();
    if (server.exitCode === null) await once(server, 'exit');
    rmSync(home, { recursive: true, force: true });
  }
}

/** @param {import('node:child_process').ChildProcess} server */
async function listening(server) {
  let printed = '';
  for await (const chunk of server.stdout ?? []) {
    printed += String(chunk);
    const url = /^Listening on (\S+)\n/m.exec(printed)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error('The server did not start');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeTable();
