/** Files `.mcp.json` that mean harm, or hold far too much. */
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readFolderServers } from '../../../src/mcp/folder-files.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

/** Read a file with these entries. */
function read(entries: string) {
  const folder = join(realpathSync(temporaryFolder()), 'project');
  mkdirSync(folder);
  writeFileSync(join(folder, '.mcp.json'), `{"mcpServers": {${entries}}}`);
  const notices: string[] = [];
  const onNotice = (_level: string, _code: string, message: string) => void notices.push(message);
  const servers = readFolderServers(folder, { trusted: [folder], taken: ['issues'], onNotice });
  return { names: servers.map(({ name }) => name), notices };
}

const many = (entry: string) => Array.from({ length: 10_000 }, (_, index) => `"s${index}": ${entry}`).join();

describe('a file of a folder', () => {
  test('with thousands of servers or faults costs few of either', () => {
    const good = read(many('{"command": "x"}'));
    expect(good.names).toHaveLength(16);
    expect(good.notices).toHaveLength(2);
    const bad = read(many('{"command": "${GONE}", "autoApprove": true}'));
    expect(bad.names).toEqual([]);
    expect(bad.notices).toHaveLength(21);
    expect(bad.notices.at(-1)).toContain('and 81 more faults');
  });

  test('cannot take the name of a configured server, nor write into the log', () => {
    const { names, notices } = read(
      '"issues": {"command": "x"}, "a\\u202e\\nb": {"command": 7}, "good": {"command": "x"}',
    );
    expect(names).toEqual(['good']);
    expect(notices.map((notice) => notice.replace(/^.*?\.mcp\.json"/, ''))).toEqual([
      expect.stringContaining('The MCP server "a\\u{202e} b" cannot be used'),
      ': "mcpServers.issues" is left out: the settings of this server name one so',
    ]);
  });

  test('with the name of a prototype is refused as a whole', () => {
    expect(read('"__proto__": {"command": "x"}, "good": {"command": "x"}')).toMatchObject({
      names: [],
      notices: [expect.stringContaining('the key "__proto__" is not allowed')],
    });
  });

  test('reads no variables, those of every object included', () => {
    expect(read('"a": {"command": "${constructor}"}')).toMatchObject({
      names: [],
      notices: [expect.stringContaining("a project's file reads no variables")],
    });
  });
});
