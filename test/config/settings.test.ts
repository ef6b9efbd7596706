/** Settings: what is accepted, what stops the start, and with which line. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS, SETTINGS_FILE_BYTES } from '../../config/limits.ts';
import { SettingsError } from '../../config/settings-error.ts';
import { loadSettings, type Settings } from '../../config/settings.ts';
import { PERMISSION_MODES } from '../../src/wire/permission-names.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const root = temporaryFolder();
const workspace = join(root, 'project');
mkdirSync(workspace);
let files = 0;
const SHA = 'ab'.repeat(32);
/** A client at the authorization server of an MCP server. */
const CLIENT = { clientId: 'c', clientSecret: 's' };

function oauth(settings: object): object {
  return { mcpServers: { a: { type: 'http', url: 'https://mcp.example/', oauth: settings } } };
}

const LONG_TOKEN = 'token-0123456789';

function fileWith(content: unknown): string {
  const path = join(root, `settings-${++files}.json`);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

function load(environment: Record<string, string> = {}): Settings {
  return loadSettings({ environment: { HOME: root, ...environment }, startFolder: workspace });
}

function loadFile(content: unknown, environment: Record<string, string> = {}): Settings {
  return load({ GAUNTLET_CONFIG: fileWith(content), ...environment });
}

function refusal(attempt: () => unknown): SettingsError {
  try {
    attempt();
  } catch (error) {
    if (error instanceof SettingsError) return error;
    throw error;
  }
  throw new Error('The settings were accepted');
}

describe('principals', () => {
  const one = { name: 'build@ci', tokenSha256: SHA, roots: ['.'], maxMode: 'plan' };

  it('have real folders as roots, relative to the workspace, and the limits of the server', () => {
    const { principals, unusedKeys } = loadFile({ limits: { streams: 7 }, principals: [one] });
    expect(principals).toMatchObject([{ ...one, roots: [workspace], limits: { streams: 7, callsAtOnce: 0 } }]);
    expect(unusedKeys).toEqual([]);
  });

  it('have limits of their own, and none looser than the policy', () => {
    const policy = fileWith({ limits: { streams: 5, callsAtOnce: 9 } });
    const file = { limits: { streams: 7 }, principals: [{ ...one, limits: { streams: 100, callsAtOnce: 2 } }] };
    const { principals } = loadFile(file, { GAUNTLET_POLICY: policy });
    expect(principals[0]?.limits).toMatchObject({ streams: 5, callsAtOnce: 2, sessionsInUse: 0 });
  });
});

describe('settings without a file', () => {
  it('has the defaults of the protocol', () => {
    const settings = load();
    expect(settings).toMatchObject({
      host: '127.0.0.1',
      port: 4747,
      token: undefined,
      dataFolder: join(root, '.local/state/gauntlet'),
      tokenFile: join(root, '.local/state/gauntlet/token'),
      workspace,
      toolMode: 'normal',
      durability: 'process',
      toolSearch: 'auto',
      siblingAbort: 'bash',
      logLevel: 'info',
    });
    expect(settings.limits).toEqual(DEFAULT_LIMITS);
    expect(settings.warnings).toEqual([]);
  });

  it('is frozen all the way down', () => {
    const settings = loadFile({ permissions: { allow: ['Read'] } });
    expect(Object.isFrozen(settings)).toBe(true);
    expect(Object.isFrozen(settings.permissions.rules.userSettings?.allow)).toBe(true);
    expect(Object.isFrozen(settings.limits)).toBe(true);
  });

  it('keeps data where XDG_STATE_HOME says, unless that is relative', () => {
    expect(load({ XDG_STATE_HOME: '/state' }).dataFolder).toBe('/state/gauntlet');
    expect(load({ XDG_STATE_HOME: 'state' }).dataFolder).toBe(join(root, '.local/state/gauntlet'));
  });

  it('finds the settings file in the data directory', () => {
    const data = join(root, 'data');
    mkdirSync(data);
    writeFileSync(join(data, 'gauntlet.config.json'), '{ "port": 5000 /* ours */, }');
    expect(load({ GAUNTLET_DATA_DIR: data }).port).toBe(5000);
  });

  it('takes a variable that is set to nothing as not set', () => {
    expect(load({ GAUNTLET_PORT: '', GAUNTLET_TOKEN: '' })).toMatchObject({ port: 4747, token: undefined });
  });

  it('warns of a variable that looks like ours and is not', () => {
    expect(load({ GAUNTLET_ALLOWED_HOST: 'x', GAUNTLET_CALL_ID: 'a.b' }).warnings).toEqual([
      'The environment variable GAUNTLET_ALLOWED_HOST is not known; did you mean GAUNTLET_ALLOWED_HOSTS?',
    ]);
  });
});

describe("the server's own data", () => {
  const one = { name: 'ci', tokenSha256: SHA };
  mkdirSync(join(root, 'linked-state'));
  symlinkSync(root, join(workspace, 'up'));

  it.each<[string, string, Record<string, string>, object]>([
    ['the workspace', 'GAUNTLET_WORKSPACE', { GAUNTLET_DATA_DIR: join(workspace, 'state') }, {}],
    ['the workspace, by default', 'GAUNTLET_WORKSPACE', { GAUNTLET_WORKSPACE: root }, {}],
    [
      'a workspace behind a link',
      'GAUNTLET_WORKSPACE',
      { GAUNTLET_WORKSPACE: root, GAUNTLET_DATA_DIR: join(workspace, 'up', 'not-there-yet') },
      {},
    ],
    ['further directories', 'permissions.additionalDirectories', {}, { permissions: { additionalDirectories: ['~'] } }],
    ['roots of a principal', 'principals.0.roots', {}, { principals: [{ ...one, roots: ['.', '..'] }] }],
  ])('stops the start where %s would contain it', (_what, key, environment, content) => {
    const stopped = refusal(() => loadFile(content, environment));
    expect(stopped).toMatchObject({ key });
    expect(stopped.message).toMatch(
      /contains the data directory .* set .* to a project's folder, or GAUNTLET_DATA_DIR/,
    );
    expect(stopped.message).not.toContain('\n');
  });

  it('stops the start where the workspace contains a token file that was set by hand', () => {
    const file = join(workspace, 'token');
    writeFileSync(file, LONG_TOKEN, { mode: 0o600 });
    expect(refusal(() => load({ GAUNTLET_TOKEN_FILE: file })).message).toContain(
      'GAUNTLET_TOKEN_FILE to a path outside',
    );
  });

  it('does not matter to a command that only talks to a server', () => {
    const environment = { HOME: root, GAUNTLET_WORKSPACE: root };
    expect(loadSettings({ environment, isClient: true }).workspace).toBe(root);
  });
});

describe('PATH', () => {
  it('holds no folder that a session may write to, and none that depends on where a program runs', () => {
    mkdirSync(join(workspace, 'node_modules/.bin'), { recursive: true });
    mkdirSync(join(root, 'more'));
    symlinkSync(join(workspace, 'node_modules'), join(root, 'tools'));
    symlinkSync('/usr/bin', join(workspace, 'bin'));
    const unsafe = [
      join(workspace, 'node_modules/.bin'), workspace, join(root, 'tools/.bin'), join(workspace, 'bin'),
      join(workspace, 'not-there-yet'), join(root, 'more/bin'), '', '.', 'node_modules/.bin', `${root}/project/../more`,
    ]; // prettier-ignore
    const safe = ['/usr/local/bin', '/usr/bin', `${workspace}-other/bin`];
    const path = [...unsafe, ...safe, ''].join(':');
    const further = { permissions: { additionalDirectories: ['../more'] } };
    expect(loadFile(further, { PATH: path }).searchPath).toBe(safe.join(':'));
    expect(load().searchPath).toBeUndefined();
  });
});

describe('settings from several sources', () => {
  it('lets the environment win over the file', () => {
    const file = { port: 1, logLevel: 'debug', maxToolUseConcurrency: 3, allowedHosts: ['a.example'] };
    const settings = loadFile(file, { GAUNTLET_PORT: '2', GAUNTLET_MAX_TOOL_USE_CONCURRENCY: '4' });
    expect(settings).toMatchObject({ port: 2, logLevel: 'debug', allowedHosts: ['a.example'] });
    expect(settings.limits.toolUseConcurrency).toBe(4);
  });

  it('lets the policy win over both', () => {
    const policy = fileWith({
      permissions: { deny: ['Bash(rm:*)'], disableBypassPermissionsMode: 'disable' },
      limits: { toolUseConcurrency: 2 },
    });
    const user = { permissions: { allow: ['Read'] }, limits: { toolUseConcurrency: 9, bodyBytes: 10 } };
    const settings = loadFile(user, { GAUNTLET_POLICY: policy, GAUNTLET_MAX_TOOL_USE_CONCURRENCY: '8' });
    expect(settings.permissions.rules).toEqual({
      policySettings: { allow: [], ask: [], deny: ['Bash(rm:*)'] },
      userSettings: { allow: ['Read'], ask: [], deny: [] },
    });
    expect(settings.permissions.isBypassAvailable).toBe(false);
    expect(settings.limits).toMatchObject({ toolUseConcurrency: 2, bodyBytes: 10 });
  });

  it.each([
    [{ mode: 'off' }, { mode: 'auto' }, { mode: 'auto', network: 'off', isAutoAllowed: false }],
    [
      { mode: 'required', network: 'on', autoAllow: true },
      { mode: 'auto' },
      { mode: 'required', network: 'on', isAutoAllowed: true },
    ],
    [
      { mode: 'auto', network: 'on', autoAllow: true },
      { mode: 'auto', network: 'off', autoAllow: false },
      { mode: 'auto', network: 'off', isAutoAllowed: false },
    ],
    [
      { mode: 'auto', network: 'off' },
      { mode: 'auto', network: 'on', autoAllow: true },
      { mode: 'auto', network: 'off', isAutoAllowed: true },
    ],
    [
      { mode: 'auto', network: { allow: ['A.example', '*.b.example:8080', '[::1]:3'] } },
      { mode: 'auto', network: 'on' },
      { mode: 'auto', network: { allow: [['a.example', '*.b.example:8080', '[::1]:3']] }, isAutoAllowed: false },
    ],
    [
      { mode: 'auto', network: { allow: ['a.example'] } },
      { mode: 'auto', network: { allow: ['10.0.0.1'] } },
      { mode: 'auto', network: { allow: [['10.0.0.1'], ['a.example']] }, isAutoAllowed: false },
    ],
    [
      { mode: 'auto', network: { allow: ['a.example'] } },
      { mode: 'auto', network: 'off' },
      { mode: 'auto', network: 'off', isAutoAllowed: false },
    ],
  ])('takes the tighter of two sandboxes: %j and %j', (sandbox, policy, merged) => {
    expect(loadFile({ sandbox }, { GAUNTLET_POLICY: fileWith({ sandbox: policy }) }).sandbox).toEqual(merged);
  });

  it('fills variables into strings, several to a string', () => {
    const file = { mcpServers: { web: { type: 'http', url: 'http://${H}:${P}/', headers: { a: 'Bearer ${S}' } } } };
    const settings = loadFile(file, { H: 'localhost', P: '1', S: 'secret' });
    expect(settings.mcpServers['web']).toMatchObject({ url: 'http://localhost:1/', headers: { a: 'Bearer secret' } });
  });

  it('takes an MCP server without a type for a command', () => {
    const scoped = loadFile(oauth({ ...CLIENT, scopes: 'read write' })).mcpServers['a'];
    expect(scoped).toMatchObject({ oauth: { ...CLIENT, scopes: ['read', 'write'] } });
    expect(loadFile({ mcpServers: { one: { command: 'x' } } }).mcpServers['one']).toEqual({
      type: 'stdio',
      command: 'x',
    });
  });

  it('reads the token from a file that may be a link', () => {
    symlinkSync(fileWith('s3cret\n'), join(root, 'link'));
    expect(load({ GAUNTLET_TOKEN_FILE: join(root, 'link') }).token).toBe('s3cret');
  });

  it('warns of a token that can be guessed, wherever it was set', () => {
    const guessed = expect.stringMatching(/fewer than 16 characters.*gauntlet token/) as unknown;
    expect(load({ GAUNTLET_TOKEN: 'x'.repeat(15) }).warnings).toEqual([guessed]);
    expect(loadFile({ tokenFile: fileWith(`${'x'.repeat(15)}\n`) }).warnings).toContainEqual(guessed);
    expect(load({ GAUNTLET_TOKEN: 'x'.repeat(16) }).warnings).toEqual([]);
  });

  it('warns of a token file that others may read', () => {
    const path = fileWith(`${LONG_TOKEN}\n`);
    chmodSync(path, 0o640);
    expect(load({ GAUNTLET_TOKEN_FILE: path }).warnings).toEqual([expect.stringContaining(`"${path}"; give it`)]);
    chmodSync(path, 0o600);
    expect(load({ GAUNTLET_TOKEN_FILE: path }).warnings).toEqual([]);
  });

  it('listens beyond loopback with a token and host names set by hand', () => {
    const door = {
      GAUNTLET_HOST: '0.0.0.0',
      GAUNTLET_TOKEN: LONG_TOKEN,
      GAUNTLET_ALLOWED_HOSTS: 'Gauntlet.example.com, [::1]:80',
    };
    expect(load(door)).toMatchObject({ host: '0.0.0.0', allowedHosts: ['gauntlet.example.com', '[::1]:80'] });
  });

  it('names what it accepts and does not act on', () => {
    expect(loadFile({ readUnchanged: 'stub' }).unusedKeys).toEqual(['readUnchanged']);
    expect(loadFile({ readUnchanged: 'send' }).unusedKeys).toEqual([]);
  });

  it('takes the search engine, with its key from the environment and its own address', () => {
    expect(loadFile({ webSearch: { engine: 'brave', apiKeyEnv: 'KEY' } }, { KEY: 'k' }).webSearch).toEqual({
      engine: 'brave',
      apiKey: 'k',
      baseUrl: 'https://api.search.brave.com',
    });
    expect(loadFile({ webSearch: { engine: 'searxng', baseUrl: 'http://h/' } }).webSearch).toMatchObject({
      baseUrl: 'http://h/',
    });
    expect(load().webSearch).toBeUndefined();
    expect(() => loadFile({ webSearch: { engine: 'searxng' } })).toThrow('"webSearch.baseUrl" is missing');
    expect(() => loadFile({ webSearch: { engine: 'tavily' } })).toThrow('"webSearch.apiKeyEnv" is missing');
  });

  it('takes hosts that may be fetched from, and the model for prompts about pages', () => {
    const models = { default: { provider: 'openai', model: 'm' }, small: { provider: 'openai', model: 's' } };
    const allowPrivate = ['127.0.0.1:8080', '*.corp.example'];
    expect(loadFile({ models, webFetch: { allowPrivate } }).webFetch).toMatchObject({
      allowPrivate,
      model: { model: 'm' },
    });
    expect(loadFile({ models, webFetch: { model: 'small' } }).webFetch.model).toMatchObject({ model: 's' });
    expect(load().webFetch).toEqual({ allowPrivate: [], model: undefined });
    expect(() => loadFile({ webFetch: { model: 'none' } })).toThrow('"webFetch.model" names no model');
    expect(() => loadFile({ webFetch: { allowPrivate: ['http://h'] } })).toThrow('must be hosts such as');
  });

  it('takes approvals, with the secrets of webhooks from the environment', () => {
    const approvals = {
      askTimeoutMs: 5_000,
      webhooks: [{ url: 'http://h/x', secretEnv: 'HOOK_SECRET' }],
      twoPerson: ['Bash(rm:*)'],
    };
    const settings = loadFile({ approvals }, { HOOK_SECRET: 's' });
    expect(settings.approvals).toEqual({ webhooks: [{ url: 'http://h/x', secret: 's' }], twoPerson: ['Bash(rm:*)'] });
    expect(settings.limits.askTimeoutMs).toBe(5_000);
  });

  it('has the models of agents with their keys, and the folders of agent types beside the settings file', () => {
    const models = { cheap: { provider: 'openai', model: 'm', apiKeyEnv: 'KEY' } };
    const settings = loadFile({ models, agents: ['./types', '/srv/types'] }, { KEY: 'k' });
    expect(settings.models.get('cheap')).toMatchObject({ provider: 'openai', model: 'm', apiKey: 'k' });
    expect(settings.agents).toEqual([expect.stringMatching(/^\/.*\/types$/), '/srv/types']);
  });

  it('finds the model of mode "auto": the one named for it, else the default one', () => {
    const models = {
      default: { provider: 'openai', model: 'm', baseUrl: 'http://h/v1' },
      fast: { provider: 'anthropic', model: 'f', apiKeyEnv: 'KEY' },
    };
    expect(loadFile({ models }, { KEY: 'k' }).classifierModel).toMatchObject({
      provider: 'openai',
      model: 'm',
      baseUrl: 'http://h/v1',
    });
    const named = loadFile({ models, permissions: { classifierModel: 'fast' } }, { KEY: 'k' });
    expect(named.classifierModel).toEqual({ provider: 'anthropic', model: 'f', apiKey: 'k', baseUrl: undefined });
    expect(load().classifierModel).toBeUndefined();
  });

  it('knows every permission mode of the contract', () => {
    for (const mode of PERMISSION_MODES) {
      expect(loadFile({ permissions: { defaultMode: mode } }).permissions.defaultMode).toBe(mode);
    }
  });
});

describe('a wrong variable stops the start', () => {
  it.each([
    ['GAUNTLET_HOST', { GAUNTLET_HOST: 'http://127.0.0.1' }],
    ['GAUNTLET_PORT', { GAUNTLET_PORT: 'x' }],
    ['GAUNTLET_PORT', { GAUNTLET_PORT: '65536' }],
    ['GAUNTLET_PORT', { GAUNTLET_PORT: '-1' }],
    ['GAUNTLET_TOKEN', { GAUNTLET_TOKEN: 'two words' }],
    ['GAUNTLET_TOKEN_FILE', { GAUNTLET_TOKEN_FILE: '/nowhere/token' }],
    ['GAUNTLET_TOKEN', { GAUNTLET_HOST: '0.0.0.0', GAUNTLET_ALLOWED_HOSTS: 'a.example' }],
    ['GAUNTLET_TOKEN', { GAUNTLET_HOST: '0.0.0.0', GAUNTLET_ALLOWED_HOSTS: 'a.example', GAUNTLET_TOKEN: 'guessed' }],
    ['GAUNTLET_ALLOWED_HOSTS', { GAUNTLET_HOST: '0.0.0.0', GAUNTLET_TOKEN: LONG_TOKEN }],
    ['GAUNTLET_ALLOWED_HOSTS', { GAUNTLET_HOST: '::', GAUNTLET_TOKEN: LONG_TOKEN, GAUNTLET_ALLOWED_HOSTS: ' , ' }],
    ['GAUNTLET_ALLOWED_HOSTS', { GAUNTLET_ALLOWED_HOSTS: '*' }],
    ['GAUNTLET_ALLOWED_HOSTS', { GAUNTLET_ALLOWED_HOSTS: 'a.example,null' }],
    ['GAUNTLET_ALLOWED_HOSTS', { GAUNTLET_ALLOWED_HOSTS: 'http://a.example' }],
    ['GAUNTLET_ALLOWED_ORIGINS', { GAUNTLET_ALLOWED_ORIGINS: '*' }],
    ['GAUNTLET_ALLOWED_ORIGINS', { GAUNTLET_ALLOWED_ORIGINS: 'null' }],
    ['GAUNTLET_ALLOWED_ORIGINS', { GAUNTLET_ALLOWED_ORIGINS: 'https://a.example/' }],
    ['GAUNTLET_MAX_TOOL_USE_CONCURRENCY', { GAUNTLET_MAX_TOOL_USE_CONCURRENCY: '0' }],
    ['GAUNTLET_SIMPLE', { GAUNTLET_SIMPLE: 'yes' }],
    ['GAUNTLET_LOG_LEVEL', { GAUNTLET_LOG_LEVEL: 'loud' }],
    ['GAUNTLET_WORKSPACE', { GAUNTLET_WORKSPACE: '/nowhere' }],
    ['GAUNTLET_WORKSPACE', { GAUNTLET_WORKSPACE: '/' }],
    ['GAUNTLET_WORKSPACE', { GAUNTLET_WORKSPACE: '/proc/self' }],
    ['GAUNTLET_CONFIG', { GAUNTLET_CONFIG: '/nowhere.json' }],
    ['GAUNTLET_CONFIG', { GAUNTLET_CONFIG: '/dev/zero' }],
    ['GAUNTLET_CONFIG', { GAUNTLET_CONFIG: '/tmp' }],
    ['GAUNTLET_POLICY', { GAUNTLET_POLICY: '/nowhere.json' }],
  ])('%s in %j', (key, environment) => {
    const error = refusal(() => load(environment));
    expect(error.key).toBe(key);
    expect(error.message).toContain(key);
    expect(error.message).not.toContain('\n');
  });
});

describe('a wrong file stops the start', () => {
  const hook = { hooks: [{ type: 'command', command: 'x' }] };
  const hookWith = (fields: object) => ({ hooks: [{ type: 'command', command: 'x', ...fields }] });
  it.each([
    ['permision', 'did you mean "permissions"?', { permision: {} }],
    ['permissions.default_mode', 'did you mean "defaultMode"?', { permissions: { default_mode: 'plan' } }],
    ['permissions.defaultMode', '"plan"', { permissions: { defaultMode: 'yolo' } }],
    ['permissions.allow.0', 'rule', { permissions: { allow: [''] } }],
    ['permissions.deny', 'a list', { permissions: { deny: 'Bash' } }],
    ['limits.bodyBites', 'did you mean "bodyBytes"?', { limits: { bodyBites: 1 } }],
    ['limits.grepResults', 'is not a setting', { limits: { grepResults: 100 } }],
    ['limits.bodyBytes', 'at least 1', { limits: { bodyBytes: 0 } }],
    ['limits.askTimeoutMs', 'at most', { limits: { askTimeoutMs: 3e9 } }],
    ['limits.drainMs', 'whole number', { limits: { drainMs: 1.5 } }],
    ['port', 'number', { port: '4747' }],
    ['trustProxy', 'a list', { trustProxy: true }],
    ['trustProxy.0', 'range', { trustProxy: ['10.0.0.0/99'] }],
    ['hooks.PreToolUse.0.hooks.0.timeout', 'a number', { hooks: { PreToolUse: [hookWith({ timeout: '5' })] } }],
    ['hooks.PreToolUse.0.hooks.0.onFailure', '"block"', { hooks: { PreToolUse: [hookWith({ onFailure: 'deny' })] } }],
    ['hooks.PostToolUse.0.hooks.0.type', 'type', { hooks: { PostToolUse: [hookWith({ type: 'prompt' })] } }],
    ['hooks.PreToolUse.0.matchers', 'did you mean "matcher"?', { hooks: { PreToolUse: [{ ...hook, matchers: '*' }] } }],
    ['hooks.PreTool', 'did you mean "PreToolUse"?', { hooks: { PreTool: [hook] } }],
    ['sandbox.network', '"off" or "on"', { sandbox: { mode: 'auto', network: 'no' } }],
    ['approvals.twoPerson.0', 'must be a rule', { approvals: { twoPerson: ['Bash('] } }],
    ['permissions.deny.0', '"Bash(rm" is none', { permissions: { deny: ['Bash(rm'] } }],
    [
      'approvals.webhooks.0.secretEnv',
      'NO_SECRET is not set',
      { approvals: { webhooks: [{ url: 'http://h', secretEnv: 'NO_SECRET' }] } },
    ],
    [
      'permissions.classifierModel',
      'names no model',
      { permissions: { classifierModel: 'fast' }, models: { default: { provider: 'openai', model: 'm' } } },
    ],
    [
      'models.default.apiKeyEnv',
      'NO_KEY is not set',
      { models: { default: { provider: 'openai', model: 'm', apiKeyEnv: 'NO_KEY' } } },
    ],
    ['features.x', 'true or false', { features: { x: 'on' } }],
    ['principals.0.tokenSha256', '64 hex digits', { principals: [{ name: 'a', tokenSha256: 'A', roots: [] }] }],
    [
      'principals.0.tokenSha256',
      '64 hex digits',
      { principals: [{ name: 'a', tokenSha256: SHA.toUpperCase(), roots: [] }] },
    ],
    ['principals.0.name', 'taken by the server', { principals: [{ name: 'owner', tokenSha256: SHA, roots: [] }] }],
    ['principals.0.name', '1 to 64 letters', { principals: [{ name: 'a and b', tokenSha256: SHA, roots: [] }] }],
    ['principals.0.roots', 'a list', { principals: [{ name: 'a', tokenSha256: SHA }] }],
    ['principals.0.roots.1', 'is not a folder', { principals: [{ name: 'a', tokenSha256: SHA, roots: ['.', 'no'] }] }],
    ['principals.0.maxMode', '"default"', { principals: [{ name: 'a', tokenSha256: SHA, roots: [], maxMode: 'all' }] }],
    [
      'principals.0.limits.streems',
      'did you mean "streams"',
      { principals: [{ name: 'a', tokenSha256: SHA, roots: [], limits: { streems: 1 } }] },
    ],
    [
      'principals.1.name',
      'appears twice',
      { principals: ['a', 'a'].map((name, at) => ({ name, tokenSha256: `${at}${SHA.slice(1)}`, roots: [] })) },
    ],
    [
      'principals.1.tokenSha256',
      'two principals',
      { principals: ['a', 'b'].map((name) => ({ name, tokenSha256: SHA, roots: [] })) },
    ],
    ['toolMode', '"normal" or "simple"', { toolMode: 'fast' }],
    ['GAUNTLET_CONFIG', 'appears twice', '{"permissions":{"deny":["Bash"]},"permissions":{}}'],
    ['GAUNTLET_CONFIG', 'line 2', '{\n"__proto__":{"port":1}}'],
    ['GAUNTLET_CONFIG', 'not valid JSON', '{"port":'],
    ['GAUNTLET_CONFIG', 'not valid JSON', ''],
    ['GAUNTLET_CONFIG', 'not valid JSON', '// nothing'],
    ['GAUNTLET_CONFIG', 'not valid JSON', '{} {}'],
    ['GAUNTLET_CONFIG', 'nested deeper', '['.repeat(100_000)],
    ['GAUNTLET_CONFIG', 'larger than', ' '.repeat(SETTINGS_FILE_BYTES + 1)],
    ['', 'an object', '[]'],
  ])('%s: %s', (key, fix, content) => {
    const error = refusal(() => loadFile(content));
    expect(error.key).toBe(key);
    expect(error.message).toContain(key);
    expect(error.message).toContain(fix);
    expect(error.message).not.toContain('\n');
  });

  it.each([
    '127.1',
    '0x7f000001',
    '[::1',
    'http://a.example',
    'a.example:0',
    'a..example',
    '*',
    '*.10.0.0.1',
    '*.[::1]',
    'ａ.example',
    'a@b',
    '',
  ])('refuses "%s" as a host of the sandbox', (host) => {
    const error = refusal(() => loadFile({ sandbox: { mode: 'auto', network: { allow: [host] } } }));
    expect(error.message).toContain('"sandbox.network.allow.0"');
    expect(error.message).toContain('must be hosts such as');
  });

  it('does not wait for a pipe', () => {
    const path = join(root, 'pipe');
    execFileSync('mkfifo', [path]);
    expect(refusal(() => load({ GAUNTLET_CONFIG: path })).message).toContain('not a regular file');
  });

  it('does not read a file of five gigabytes', () => {
    const path = fileWith('');
    truncateSync(path, 5_000_000_000);
    expect(refusal(() => load({ GAUNTLET_CONFIG: path })).message).toContain('larger than');
  });

  it('does not change what every object inherits', () => {
    refusal(() => loadFile('{"constructor": {"prototype": {"polluted": true}}}'));
    refusal(() => loadFile('{"features": {"__proto__": {"polluted": true}}}'));
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('refuses a policy that sets anything else than it may', () => {
    const error = refusal(() => load({ GAUNTLET_POLICY: fileWith({ port: 1 }) }));
    expect(error.key).toBe('port');
  });

  it('weighs the hooks of a policy after those of the settings file', () => {
    const policy = fileWith({ hooks: { PreToolUse: [hook] } });
    const config = fileWith({ hooks: { PostToolUse: [hook] } });
    const { hooks } = load({ GAUNTLET_CONFIG: config, GAUNTLET_POLICY: policy });
    expect(hooks.map(({ file }) => file)).toEqual(['the settings file', 'GAUNTLET_POLICY']);
  });

  it('refuses a default mode that is disabled', () => {
    const permissions = { defaultMode: 'bypassPermissions', disableBypassPermissionsMode: 'disable' };
    expect(refusal(() => loadFile({ permissions })).key).toBe('permissions.defaultMode');
  });

  it('sends MCP clients to issuers alone, and only where this server has an address', () => {
    const mcpAuthorization = { servers: ['https://login.example'], scopes: 'gauntlet:read gauntlet:write' };
    expect(loadFile({ mcpAuthorization, publicUrl: 'https://gauntlet.example/' }).mcpAuthorization).toEqual({
      publicUrl: 'https://gauntlet.example',
      servers: ['https://login.example'],
      scopes: ['gauntlet:read', 'gauntlet:write'],
    });
    const { key, message } = refusal(() => loadFile({ mcpAuthorization }));
    expect([key, message]).toEqual(['mcpAuthorization', expect.stringContaining('"publicUrl"')]);
    for (const server of ['http://login.example', 'https://login.example/?a=b', 'login.example']) {
      expect(refusal(() => loadFile({ mcpAuthorization: { servers: [server] } })).key).toBe(
        'mcpAuthorization.servers.0',
      );
    }
    expect(refusal(() => loadFile({ mcpAuthorization: { servers: [] } })).key).toBe('mcpAuthorization.servers');
  });

  it('takes principals without a token of their own where a claim of signed tokens names them', () => {
    const principals = [{ name: 'ann', roots: [] }];
    const mcpAuthorization = { servers: ['https://login.example'], principalClaim: 'sub' };
    const { key } = refusal(() => loadFile({ principals }));
    expect(key).toBe('principals.0.tokenSha256');
    const settings = loadFile({ principals, mcpAuthorization, publicUrl: 'https://gauntlet.example' });
    expect(settings.mcpAuthorization).toMatchObject({ principalClaim: 'sub' });
    expect(settings.principals[0]?.tokenSha256).toBeUndefined();
  });

  it('never repeats a value, which may be a secret', () => {
    const file = { mcpServers: { a: { type: 'http', url: '${SECRET}' } }, publicUrl: '${SECRET}' };
    expect(refusal(() => loadFile(file, { SECRET: 'canary' })).message).not.toContain('canary');
    const { mcpServers, warnings } = loadFile({ mcpServers: file.mcpServers }, { SECRET: 'canary' });
    expect(JSON.stringify([mcpServers, warnings])).not.toContain('canary');
  });
});
