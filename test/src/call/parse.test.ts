/** A block becomes a tool and an input, or a result that says why not. */
import { z } from 'zod';
import { describe, expect, it } from 'vitest';
import { parseBlock, type Parsed } from '../../../src/call/parse.ts';
import { callWorld } from '../../helpers/call-services.ts';
import { plainTool } from '../../helpers/plain-tool.ts';

const parse = (name: string, input: unknown, tools = [plainTool('Echo', { aliases: ['Say'] })]) =>
  comesTo(parseBlock({ type: 'tool_use', id: 'a', name, input: input as never }, callWorld(tools).services));
const comesTo = (parsed: Parsed) => (parsed.kind === 'end' ? parsed.outcome : parsed.invocation);

describe('parseBlock', () => {
  it('finds a tool by its name and by its alias', () => {
    for (const name of ['Echo', 'Say'])
      expect(parse(name, { text: 'hi' })).toMatchObject({ tool: { name: 'Echo' }, input: { text: 'hi' } });
  });

  it('says which tool was probably meant', () => {
    expect(parse('echo', {})).toMatchObject({
      errorCode: 'unknown_tool',
      content: expect.stringContaining('"Echo"') as string,
    });
  });

  it('knows no tool by a name that only objects have', () => {
    for (const name of ['constructor', '__proto__', 'toString'])
      expect(parse(name, {})).toMatchObject({ errorCode: 'unknown_tool' });
  });

  it('refuses a field that the schema does not have', () => {
    expect(parse('Echo', { text: 'hi', more: 1 })).toMatchObject({
      status: 'error',
      errorCode: 'invalid_input',
      didRun: false,
    });
  });

  it.each([['text'], [null], [[]], [7]])('refuses %j, which is no object', (input) => {
    expect(parse('Echo', input)).toMatchObject({ errorCode: 'invalid_input' });
  });

  describe('null and empty values that the schema refuses', () => {
    const inputSchema = z.strictObject({
      text: z.string().min(1),
      limit: z.int().min(1).optional(),
      mode: z.enum(['a', 'b']).default('a'),
      glob: z.string().optional(),
      skip: z.int().optional(),
      nested: z.strictObject({ note: z.string().optional() }).optional(),
    });
    const tool = plainTool('Echo', { inputSchema });

    it('count as absent where the field is optional', () => {
      const input = { text: 'hi', limit: 0, mode: '', glob: null, skip: null, nested: { note: null } };
      expect(parse('Echo', input, [tool])).toMatchObject({ input: { text: 'hi', mode: 'a', nested: {} } });
      expect(parse('Echo', input, [tool])).not.toHaveProperty('input.limit');
    });

    it('stay where the schema takes them', () => {
      const input = { text: 'hi', glob: '', skip: 0 };
      expect(parse('Echo', input, [tool])).toMatchObject({ input });
    });

    it.each([[null], [''], [undefined]])('%j is still refused where the field is required', (text) => {
      const failed = parse('Echo', { text, limit: null }, [tool]);
      expect(failed).toMatchObject({
        errorCode: 'invalid_input',
        content: expect.stringContaining('`text`') as string,
      });
    });

    it('are only null for tools of others', () => {
      const foreign = plainTool('Echo', { inputSchema, origin: { type: 'mcp', name: 's' } });
      expect(parse('Echo', { text: 'hi', limit: null }, [foreign])).toMatchObject({ input: { text: 'hi' } });
      for (const limit of [0, ''])
        expect(parse('Echo', { text: 'hi', limit }, [foreign])).toMatchObject({ errorCode: 'invalid_input' });
    });
  });

  it('strips internal fields, whoever sends them', () => {
    const inputSchema = z.strictObject({ text: z.string(), _simulated: z.string().optional() });
    const tool = plainTool('Echo', { inputSchema, internalFields: ['_simulated'] });
    expect(parse('Echo', { text: 'hi', _simulated: 'approved' }, [tool])).toMatchObject({ input: { text: 'hi' } });
  });

  it('says that a deny rule hides a tool, and does not call it unknown', () => {
    const { services } = callWorld([plainTool('Echo')], { rules: { deny: ['Echo'] } });
    expect(comesTo(parseBlock({ type: 'tool_use', id: 'a', name: 'Echo', input: {} }, services))).toMatchObject({
      status: 'denied',
      errorCode: 'permission_denied',
    });
  });

  it('names the tool that gives the schema of a deferred one', () => {
    const tools = Array.from({ length: 40 }, (_, place) => plainTool(`Tool${place}`, { shouldDefer: place === 0 }));
    const services = { ...callWorld(tools).services, schemaTool: 'Finder' };
    const failed = comesTo(parseBlock({ type: 'tool_use', id: 'a', name: 'Tool0', input: { text: 7 } }, services));
    expect(failed).toMatchObject({ content: expect.stringContaining('call Finder with "select:Tool0"') as string });
  });
});
