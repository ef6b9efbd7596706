/** A block becomes a tool and an input, or a result that says why not. */
import { z } from 'zod';
import { describe, expect, it } from 'vitest';
import { parseCall } from '../../../src/call/parse.ts';
import { callWorld } from '../../helpers/call-services.ts';
import { plainTool } from '../../helpers/plain-tool.ts';

const parse = (name: string, input: unknown, tools = [plainTool('Echo', { aliases: ['Say'] })]) =>
  parseCall({ type: 'tool_use', id: 'a', name, input: input as never }, callWorld(tools).services);

describe('parseCall', () => {
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

  describe('an input in a form that models often send', () => {
    const inputSchema = z.strictObject({
      text: z.string().min(1),
      count: z.int().optional(),
      isLoud: z.boolean().optional(),
      path: z.string().min(1).optional(),
      items: z.array(z.strictObject({ place: z.int() })).optional(),
    });
    const tool = plainTool('Echo', { inputSchema });

    it.each([
      [{ count: '-12' }, { count: -12 }],
      [{ isLoud: 'false' }, { isLoud: false }],
      [{ items: '[{"place":1}]' }, { items: [{ place: 1 }] }],
      [{ items: [{ place: '1' }] }, { items: [{ place: 1 }] }],
      [{ count: null, path: '', isLoud: null }, {}],
    ])('takes %j as %j', (given, meant) => {
      expect(parse('Echo', { text: 'hi', ...given }, [tool])).toMatchObject({ input: { text: 'hi', ...meant } });
    });

    it.each([
      [{ text: 5 }, '`text`'],
      [{ text: null }, '`text`: required'],
      [{ text: 'hi', count: 'ten' }, '`count`'],
      [{ text: 'hi', count: '1.5' }, '`count`'],
      [{ text: 'hi', count: '1e400' }, '`count`'],
      [{ text: 'hi', isLoud: 'yes' }, '`isLoud`'],
      [{ text: 'hi', items: '[' }, '`items`'],
      [{ text: 'hi', items: '['.repeat(40) + ']'.repeat(40) }, '`items`'],
      [{ text: 'hi', items: [null] }, '`items[0]`'],
      [{ text: 'hi', count: '1', more: null, other: 2 }, 'unknown fields `more`, `other`'],
    ])('refuses %j and names %s', (given, named) => {
      expect(parse('Echo', given, [tool])).toMatchObject({
        errorCode: 'invalid_input',
        content: expect.stringContaining(named) as string,
      });
    });

    it("keeps an empty text for a stranger's tool", () => {
      const stranger = plainTool('Echo', { inputSchema, origin: { type: 'plugin', name: 'p' } });
      expect(parse('Echo', { text: 'hi', path: '' }, [stranger])).toMatchObject({ errorCode: 'invalid_input' });
      expect(parse('Echo', { text: 'hi', path: null }, [stranger])).toMatchObject({ input: { text: 'hi' } });
    });

    it('leaves the block as it came', () => {
      const given = { text: 'hi', count: '1', path: null };
      parse('Echo', given, [tool]);
      expect(given).toEqual({ text: 'hi', count: '1', path: null });
    });
  });

  it('strips internal fields, whoever sends them', () => {
    const inputSchema = z.strictObject({ text: z.string(), _simulated: z.string().optional() });
    const tool = plainTool('Echo', { inputSchema, internalFields: ['_simulated'] });
    expect(parse('Echo', { text: 'hi', _simulated: 'approved' }, [tool])).toMatchObject({ input: { text: 'hi' } });
  });

  it('says that a deny rule hides a tool, and does not call it unknown', () => {
    const { services } = callWorld([plainTool('Echo')], { rules: { deny: ['Echo'] } });
    expect(parseCall({ type: 'tool_use', id: 'a', name: 'Echo', input: {} }, services)).toMatchObject({
      status: 'denied',
      errorCode: 'permission_denied',
    });
  });

  it('names the tool that gives the schema of a deferred one', () => {
    const tools = Array.from({ length: 40 }, (_, place) => plainTool(`Tool${place}`, { shouldDefer: place === 0 }));
    const services = { ...callWorld(tools).services, schemaTool: 'Finder' };
    const failed = parseCall({ type: 'tool_use', id: 'a', name: 'Tool0', input: { text: 7 } }, services);
    expect(failed).toMatchObject({ content: expect.stringContaining('call Finder with "select:Tool0"') as string });
  });
});
