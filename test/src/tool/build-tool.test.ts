/** What a definition leaves out is answered "no"; what it says keeps its own type. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { buildTool, type BuiltTool } from '../../../src/tool/build-tool.ts';
import type { PermissionResult } from '../../../src/wire/decision.ts';
import type { Tool, ToolUseContext } from '../../../src/tool/tool.ts';

const definition = {
  name: 'Echo',
  inputSchema: z.strictObject({ text: z.string(), times: z.number().default(1) }),
  maxResultSizeChars: 100,
  prompt: () => 'Says it again',
  description: () => 'Says it again',
  call: (input: { text: string; times: number }) => Promise.resolve({ data: { said: input.text.repeat(input.times) } }),
  mapToolResultToToolResultBlockParam: (output: { said: string }, toolUseId: string) => ({
    type: 'tool_result' as const,
    tool_use_id: toolUseId,
    content: output.said,
  }),
};
const input = { text: 'a', times: 1 };

describe('buildTool', () => {
  it('answers every gate that a definition leaves out with "no"', () => {
    const tool: Tool<typeof definition.inputSchema, { said: string }> = buildTool(definition);
    expect(tool.isReadOnly(input)).toBe(false);
    expect(tool.isConcurrencySafe(input)).toBe(false);
    expect(tool.isDestructive?.(input)).toBe(false);
    expect(tool.toAutoClassifierInput(input)).toBe('');
    expect(tool.isEnabled({})).toBe(true);
    expect(tool.userFacingName()).toBe('Echo');
  });

  it('lets the general rules decide when a definition has no gate of its own', async () => {
    const tool: Tool = buildTool(definition);
    expect(await tool.checkPermissions(input, {} as ToolUseContext)).toEqual({ behavior: 'allow' });
  });

  it('keeps what a definition says over the defaults', () => {
    const tool = buildTool({ ...definition, isReadOnly: ({ text }) => text === 'a', userFacingName: () => 'Speak' });
    expect(tool.isReadOnly(input)).toBe(true);
    expect(tool.userFacingName()).toBe('Speak');
  });

  it('takes a member that is present but undefined for one that is left out', () => {
    const tool = buildTool({ ...definition, isReadOnly: undefined });
    expect(tool.isReadOnly(input)).toBe(false);
  });

  it('changes nothing of the definition and freezes what it returns', () => {
    const before = { ...definition };
    const tool = buildTool(definition);
    expect(definition).toEqual(before);
    expect(Object.isFrozen(tool)).toBe(true);
  });

  it('draws a tool that draws nothing by its name', () => {
    expect((buildTool(definition) as Tool).renderToolUseMessage({})).toEqual({ title: 'Echo', blocks: [] });
  });
});

describe('the type of a built tool', () => {
  const tool = buildTool({ ...definition, name: 'Narrow', aliases: ['Tight'], isReadOnly: () => true });

  it('is as narrow as the definition', () => {
    expectTypeOf(tool.name).toEqualTypeOf<'Narrow'>();
    expectTypeOf(tool.inputSchema).toEqualTypeOf(definition.inputSchema);
    expectTypeOf(tool.call).returns.resolves.toEqualTypeOf<{ data: { said: string } }>();
  });

  it('has every defaulted member, none of them optional', () => {
    expectTypeOf(tool.isEnabled).returns.toEqualTypeOf<boolean>();
    expectTypeOf(tool.isConcurrencySafe).parameter(0).toEqualTypeOf<{ text: string; times: number }>();
    expectTypeOf(tool.checkPermissions).returns.toEqualTypeOf<PermissionResult | Promise<PermissionResult>>();
  });

  it('is a Tool, and cannot be written to', () => {
    expectTypeOf(tool).toExtend<Tool>();
    // @ts-expect-error A built tool is read-only.
    expect(() => (tool.name = 'Other')).toThrow(TypeError);
  });

  it('gives the input of the schema to members that name no type', () => {
    buildTool({
      ...definition,
      isReadOnly: (given) => {
        expectTypeOf(given).toEqualTypeOf<{ text: string; times: number }>();
        return false;
      },
    });
    expectTypeOf<BuiltTool<typeof definition>['call']>().toEqualTypeOf<(typeof definition)['call']>();
  });
});
