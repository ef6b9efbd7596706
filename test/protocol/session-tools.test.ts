/** PROTOCOL 2 and 3: what a session says of its tools when it begins. */
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedWorkspace } from '../helpers/shared-workspace.ts';
import { block, type WireClient } from '../helpers/wire-client.ts';

let client: WireClient;
let folder: string;

beforeAll(async () => {
  ({ client, folder } = await sharedWorkspace('tools'));
});

const SCHEMA = {
  type: 'object',
  properties: { title: { type: 'string', description: 'Of the report' }, score: { type: 'integer', minimum: 0 } },
  required: ['title'],
  additionalProperties: false,
};

type Listed = { tools: { name: string; input_schema?: object; state?: string }[]; session_count?: number };

const listOf = async (session: string, more = '') =>
  (await client.get(`/tools?session_id=${session}${more}`)).body as unknown as Listed;

const begin = (body: object) => client.post('/sessions', { cwd: folder, ...body });

describe('a session begun with "tools"', () => {
  it('sees these alone, by name or alias, and calls no other', async () => {
    const { body: json } = await begin({ tools: ['FileRead', 'Glob'] });
    const session = String(json['session_id']);
    expect(json['tools']).toEqual(['FileRead', 'Glob']);
    expect((await listOf(session)).tools.map(({ name }) => name)).toEqual(['Glob', 'Read']);
    const full = await listOf(session, '&format=full');
    expect(full.tools.find(({ name }) => name === 'Bash')?.state).toBe(
      'session: it was begun for other tools alone: name this one in "tools" when you begin another',
    );
    const reply = await client.post('/execute', {
      session_id: session,
      tool_uses: [block('Bash', { command: 'echo hi' }), block('Glob', { pattern: '*' })],
    });
    expect(reply.body.calls).toMatchObject([{ error_code: 'unknown_tool' }, { status: 'ok' }]);
  });

  it('is refused where a name is nobody’s, with the nearest', async () => {
    const { status, body: json } = await begin({ tools: ['Read', 'Gre'] });
    expect(status).toBe(400);
    expect(json['error']).toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('did you mean "Grep"?'),
      details: { path: 'tools[1]' },
    });
  });
});

describe('a session begun with "output_schema"', () => {
  it('has StructuredOutput with that schema behind all other tools; other sessions do not', async () => {
    const session = String((await begin({ output_schema: SCHEMA })).body['session_id']);
    const list = await listOf(session);
    expect(list.tools.at(-1)).toMatchObject({ name: 'StructuredOutput', input_schema: SCHEMA });
    expect(list.session_count).toBe(1);
    const other = await listOf(String((await begin({})).body['session_id']), '&format=full');
    expect(other.session_count).toBeUndefined();
    expect(other.tools.find(({ name }) => name === 'StructuredOutput')?.state).toBe(
      'not enabled: the session has no schema for its result: begin it with "output_schema"',
    );
  });

  it('takes what fits, asks nobody in plan mode either, and names the field that does not', async () => {
    const session = String((await begin({ output_schema: SCHEMA, mode: 'plan' })).body['session_id']);
    const { body: json } = await client.post('/execute', {
      session_id: session,
      tool_uses: [
        block('StructuredOutput', { title: 'Fine', score: 3 }),
        block('SyntheticOutput', { score: 3 }),
        block('StructuredOutput', { title: 'Fine', scores: 3 }),
      ],
    });
    expect(json['calls']).toMatchObject([
      { status: 'ok' },
      { error_code: 'invalid_input' },
      { error_code: 'invalid_input' },
    ]);
    const [, missing, unknown] = json.results;
    expect(missing?.content).toContain('title');
    expect(unknown?.content).toContain('scores');
  });

  it('is refused where the schema judges nothing', async () => {
    const problems = [
      { type: 'string' },
      { type: 'object', properties: { a: { type: 'nonsense' } } },
      { type: 'object', anyOf: [{ required: ['a'] }] },
      { type: 'object', description: 'x'.repeat(70_000) },
    ];
    for (const output_schema of problems) {
      const { status, body: json } = await begin({ output_schema });
      expect([status, json['error']]).toMatchObject([400, { details: { path: 'output_schema' } }]);
    }
  });
});
