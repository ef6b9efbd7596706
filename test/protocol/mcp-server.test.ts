/** `/mcp`: the tools of a session for MCP clients, in both revisions, with the real SDKs. */
import { mkdirSync, writeFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport, type ElicitResult } from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createHash } from 'node:crypto';
import { type BuiltServer, serverHome, startServer } from '../helpers/built-server.ts';
import { until, wireClient, type WireClient } from '../helpers/wire-client.ts';

const OTHER_TOKEN = 'other-token-0123456789abcdef';

let server: BuiltServer;
let client: WireClient;

beforeAll(async () => {
  const home = serverHome();
  const skill = join(home, 'data/skills/release');
  mkdirSync(skill, { recursive: true });
  writeFileSync(
    join(skill, 'SKILL.md'),
    '---\nname: release\ndescription: Cuts a release\nargument-hint: "[version]"\n---\nRelease $1 now.\n',
  );
  const theirs = join(home, 'workspace/theirs');
  mkdirSync(theirs);
  server = await startServer({
    home,
    settings: {
      skills: ['./skills'],
      principals: [
        { name: 'other', tokenSha256: createHash('sha256').update(OTHER_TOKEN).digest('hex'), roots: [theirs] },
      ],
    },
  });
  client = wireClient(server);
});

/** The revisions, and how a client comes to speak each. */
const ERAS = [
  ['2025-11-25', 'legacy'],
  ['2026-07-28', 'auto'],
] as const;

interface Connecting {
  readonly mode?: 'legacy' | 'auto';
  readonly token?: string;
  readonly query?: string;
  /** Given: the client can show a form to a person, who fills it in so. */
  readonly elicit?: (message: string) => ElicitResult | Promise<ElicitResult>;
  readonly onToolsChanged?: () => void;
}

async function connect({ mode = 'auto', token = server.token, query = '', elicit, onToolsChanged }: Connecting = {}) {
  const mcp = new Client(
    { name: 'test', version: '1' },
    {
      versionNegotiation: { mode },
      capabilities: elicit ? { elicitation: { form: {} } } : {},
      ...(onToolsChanged && { listChanged: { tools: { autoRefresh: false, onChanged: onToolsChanged } } }),
    },
  );
  if (elicit) mcp.setRequestHandler('elicitation/create', async ({ params }) => elicit(params.message));
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp${query}`), { requestInit });
  await mcp.connect(transport);
  onTestFinished(() => mcp.close());
  return mcp;
}

const textOf = ({ content }: { content?: unknown }) =>
  (content as { text?: string }[]).map(({ text = '' }) => text).join('\n');

const accept = (content: ElicitResult['content']): ElicitResult => ({ action: 'accept', content });

describe.each(ERAS)('a client of %s', (revision, mode) => {
  it('lists the tools of a session, calls one, and reads the file that the call changed', async () => {
    const mcp = await connect({ mode });
    expect(mcp.getNegotiatedProtocolVersion()).toBe(revision);
    const { tools } = await mcp.listTools();
    expect(tools.find(({ name }) => name === 'Read')).toMatchObject({ annotations: { readOnlyHint: true } });
    expect(tools.map(({ name }) => name)).toContain('Bash');

    const read = await mcp.callTool({ name: 'Glob', arguments: { pattern: '**/*.nothing' } });
    expect(read.isError).toBeUndefined();
  });

  it('is told of a wrong input within the result, and of a tool that is not there by an error', async () => {
    const mcp = await connect({ mode });
    const wrong = await mcp.callTool({ name: 'Read', arguments: { file: 'x' } });
    expect(wrong).toMatchObject({ isError: true, _meta: { 'gauntlet/error_code': 'invalid_input' } });
    expect(textOf(wrong)).toContain('file_path');
    await expect(mcp.callTool({ name: 'Nothing', arguments: {} })).rejects.toMatchObject({ code: -32_602 });
  });

  it('that can ask a person has a question answered, and the call goes on', async () => {
    const asked: string[] = [];
    const path = join(server.workspace, `asked-${mode}.txt`);
    const mcp = await connect({
      mode,
      elicit: (message) => {
        asked.push(message);
        return accept({ decision: 'allow' });
      },
    });
    const result = await mcp.callTool({ name: 'Write', arguments: { file_path: path, content: 'by a yes' } });
    expect(textOf(result)).not.toBe('');
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain(path);
    expect(readFileSync(path, 'utf8')).toBe('by a yes');

    const { resources } = await mcp.listResources();
    const file = resources.find(({ name }) => name === path);
    expect(file?.uri).toMatch(/^gauntlet:\/\/sessions\/.*\/files\//);
    const { contents } = await mcp.readResource({ uri: file?.uri ?? '' });
    expect(contents).toMatchObject([{ text: 'by a yes' }]);
  });

  it('whose person says no, or anything but a clear yes, has the call denied', async () => {
    for (const answer of [
      { action: 'decline' },
      { action: 'cancel' },
      accept({ decision: 'deny', message: 'Not so' }),
    ]) {
      const mcp = await connect({ mode, elicit: () => answer as ElicitResult });
      const path = join(server.workspace, 'never.txt');
      const result = await mcp.callTool({ name: 'Write', arguments: { file_path: path, content: 'no' } });
      expect(result).toMatchObject({ isError: true, _meta: { 'gauntlet/status': 'denied' } });
    }
  });

  it('that cannot ask has the question denied where nobody watches', async () => {
    const mcp = await connect({ mode });
    const path = join(server.workspace, 'never.txt');
    const result = await mcp.callTool({ name: 'Write', arguments: { file_path: path, content: 'no' } });
    expect(textOf(result)).toContain('no client that may answer is connected');
  });

  it('fills in the form of a question of the model', async () => {
    const mcp = await connect({ mode, elicit: () => accept({ answer_1: 'Blue', answer_2_other: 'Neither' }) });
    const options = (labels: string[]) => labels.map((label) => ({ label, description: label }));
    const questions = [
      { question: 'Which colour?', header: 'Colour', options: options(['Red', 'Blue']) },
      { question: 'Which size?', header: 'Size', options: options(['S', 'L']) },
    ];
    const result = await mcp.callTool({ name: 'AskUserQuestion', arguments: { questions } });
    expect(textOf(result)).toContain('- "Which colour?": Blue');
    expect(textOf(result)).toContain('- "Which size?": Neither');
  });

  it('gets a skill as a prompt', async () => {
    const mcp = await connect({ mode });
    const { prompts } = await mcp.listPrompts();
    expect(prompts).toMatchObject([{ name: 'release', description: 'Cuts a release' }]);
    const { messages } = await mcp.getPrompt({ name: 'release', arguments: { arguments: '2.0' } });
    expect(messages).toMatchObject([{ role: 'user', content: { type: 'text' } }]);
    expect(JSON.stringify(messages)).toContain('Release 2.0 now.');
    await expect(mcp.getPrompt({ name: 'nothing' })).rejects.toMatchObject({ code: -32_602 });
  });
});
