/** Entries of MCP servers in the shapes that other programs have. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { mcpServerEntries } from '../../config/settings/mcp-servers.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const folder = temporaryFolder();
writeFileSync(join(folder, 'of.env'), 'TOKEN=from-file\n# a comment\nOTHER="two words"\n');
const environment = { KEY: 'k', HOME: '/home/me' };
const read = (mcpServers: Record<string, unknown>, more: object = {}) =>
  mcpServerEntries({ mcpServers, ...more }, folder, environment);
const one = (entry: unknown) => read({ a: entry }).servers['a'];
const url = 'https://example.com/mcp';
const CLIENT = { clientId: 'c', clientSecret: 's' };

describe('an entry of an MCP server', () => {
  test.each([
    [
      'Claude',
      { command: 'x', args: ['y'], env: { A: '${KEY}', B: '${GONE:-none}' } },
      { type: 'stdio', command: 'x', args: ['y'], env: { A: 'k', B: 'none' } },
    ],
    ['Claude', { type: 'http', url, headers: { a: 'b' } }, { type: 'http', url, headers: { a: 'b' } }],
    ['Cursor', { url, headers: { a: '${env:KEY}' } }, { type: 'http', url, headers: { a: 'k' } }],
    [
      'Cursor',
      { command: 'x', envFile: 'of.env', env: { TOKEN: 'own' } },
      { type: 'stdio', command: 'x', env: { TOKEN: 'own', OTHER: 'two words' } },
    ],
    [
      'VS Code',
      { command: 'x', args: ['${workspaceFolder}/a'] },
      { type: 'stdio', command: 'x', args: [`${folder}/a`] },
    ],
    ['Windsurf', { serverUrl: url }, { type: 'http', url }],
    ['Gemini', { httpUrl: url, timeout: 600_000 }, { type: 'http', url, timeout: 600_000 }],
    [
      'Gemini',
      { command: 'x', env: { PORT: 1, ON: true } },
      { type: 'stdio', command: 'x', env: { PORT: '1', ON: 'true' } },
    ],
    ['Cline', { type: 'streamableHttp', url, disabled: false }, { type: 'http', url, disabled: false }],
    ['Cline', { url, autoApprove: [], timeout: 60 }, { type: 'http', url, timeout: 60_000 }],
    ['Cline', { url, autoApprove: [], timeout: 90_000 }, { type: 'http', url, timeout: 90_000 }],
    ['Roo', { command: 'x', alwaysAllow: [], timeout: 3_600 }, { type: 'stdio', command: 'x', timeout: 3_600_000 }],
    ['Claude', { url, timeout: 2_000 }, { type: 'http', url, timeout: 2_000 }],
    ['Claude', { url, headersHelper: 'get ${TOKEN}' }, { type: 'http', url, headersHelper: 'get ${TOKEN}' }],
    ['a hurried person', { command: 'x', enabled: 'false' }, { type: 'stdio', command: 'x', disabled: true }],
    ['a hurried person', { command: 'x', disabled: 'true' }, { type: 'stdio', command: 'x', disabled: true }],
    ['Roo', { type: 'streamable-http', url }, { type: 'http', url }],
    [
      'Codex',
      { url, bearer_token_env_var: 'KEY', http_headers: { a: 'b' }, tool_timeout_sec: 1.5, enabled: false },
      { type: 'http', url, headers: { a: 'b', Authorization: 'Bearer k' }, timeout: 1_500, disabled: true },
    ],
    ['Codex', { command: 'x', env_vars: ['KEY', 'GONE'] }, { type: 'stdio', command: 'x', env: { KEY: 'k' } }],
    ['OpenCode', { type: 'local', command: ['x', 'y'] }, { type: 'stdio', command: 'x', args: ['y'] }],
  ])('of %s is read: %j', (_of, entry, wanted) => {
    expect(one(entry)).toEqual(wanted);
  });

  test.each([
    [{ type: 'carrier-pigeon' }, /mcpServers\.a\.type/],
    [{ type: 'sse', url: 'file:///x' }, /mcpServers\.a\.url.*http/],
    [{ command: 'x', commend: 'y' }, /commend.*did you mean "command"/],
    [{ command: 'x', env: { K: '${GONE}' } }, /mcpServers\.a\.env\.K.*GONE is not set/],
    [{ command: 'x', args: ['${input:key}'] }, /nobody is asked.*write "\$\{NAME\}"/],
    [{ url, headers: { a: '${command:key}' } }, /a\.headers\.a.*only an editor knows it/],
    [{ command: 'x', enabled: 'no' }, /"enabled" must be true or false/],
    [{ command: 'x', envFile: 'none.env' }, /there is no file "none.env"/],
    [{ url, bearer_token_env_var: 'GONE' }, /GONE is not set/],
    [{ url, oauth: { clientSecret: 's' } }, /a\.oauth\.clientId.*is required/],
    [{ url, oauth: { clientId: 'c', clientSecret: 's', privateKey: 'k' } }, /a\.oauth\.privateKey.*keep one/],
    [{ url, oauth: { ...CLIENT, grant: 'client_credentials' } }, /a\.oauth\.issuer.*is required/],
    [{ url, oauth: { clientId: 'c', grant: 'client_credentials' } }, /a\.oauth\.clientSecret.*or "privateKey"/],
    [{ url, oauth: { scopes: ['a b'] } }, /a\.oauth\.scopes\.0.*must be scopes/],
    [7, /mcpServers\.a/],
    [null, /mcpServers\.a/],
  ])('that cannot be used says why and takes no other with it: %j', (entry, reason) => {
    const { servers, warnings } = read({ a: entry, b: { command: 'x' } });
    expect(servers['a']).toEqual({ type: 'unusable', reason: expect.stringMatching(reason) });
    expect(servers['b']).toEqual({ type: 'stdio', command: 'x' });
    expect(warnings).toEqual([expect.stringMatching(reason)]);
  });

  test('has what counts for nothing named, approvals above all', () => {
    const entry = { command: 'x', autoApprove: ['echo'], alwaysAllow: ['echo'], trust: true, headersHelper: 'y' };
    const { servers, warnings } = read({ a: entry });
    expect(servers['a']).toEqual({ type: 'stdio', command: 'x' });
    expect(warnings).toEqual(
      ['autoApprove', 'alwaysAllow', 'trust', 'headersHelper'].map((key) =>
        expect.stringContaining(`"mcpServers.a.${key}" has no effect`),
      ),
    );
  });

  test('stands under the key of VS Code or Codex, too; our own wins', () => {
    const { servers } = read(
      { both: { command: 'ours' } },
      { servers: { code: { command: 'x' }, both: { command: 'theirs' } }, mcp_servers: { codex: { command: 'y' } } },
    );
    expect(servers).toMatchObject({ both: { command: 'ours' }, code: { command: 'x' }, codex: { command: 'y' } });
  });
});

describe('a name that every object has', () => {
  test('is no variable, and no transport', () => {
    expect(read({ constructor: { command: 'y' } }).servers).toEqual({ constructor: { type: 'stdio', command: 'y' } });
    for (const entry of [
      { command: '${constructor}' },
      { url, bearer_token_env_var: 'toString' },
      { url, type: 'constructor' },
    ])
      expect(one(entry)).toMatchObject({ type: 'unusable' });
  });
});
