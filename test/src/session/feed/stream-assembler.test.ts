/** Raw streaming events become blocks. */
import { describe, expect, it } from 'vitest';
import { MAX_JSON_DEPTH } from '../../../../src/base/json.ts';
import { MAX_BATCH_BLOCKS } from '../../../../src/wire/block-schema.ts';
import { scopeId } from '../../../../src/session/turn/id-scope.ts';
import { StreamAssembler } from '../../../../src/session/feed/stream-assembler.ts';

/** More than half of what may be open. */
const MORE_THAN_HALF = 600_000;

function stream() {
  const streaming = new StreamAssembler();
  const idOf = ({ id }: { readonly id: string | undefined }) =>
    scopeId('session', { turnId: 't', id, index: 0, path: 'id' });
  const assembler = {
    push: (turnId: string, event: unknown) => streaming.push(turnId, event, idOf),
    openBlocks: (turnId: string) => streaming.openBlocks(turnId),
    reset: (turnId: string) => streaming.reset(turnId),
  };
  const start = (index: number, block: object) =>
    assembler.push('t', { type: 'content_block_start', index, content_block: block });
  const tool = (index: number, id = `call-${index}`) => start(index, { type: 'tool_use', id, name: 'Read', input: {} });
  const delta = (index: number, partial_json: string) =>
    assembler.push('t', { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json } });
  const stop = (index: number) => assembler.push('t', { type: 'content_block_stop', index });
  return { assembler, start, tool, delta, stop };
}

describe('StreamAssembler', () => {
  it('hands a block on as soon as it closes, its input put together', () => {
    const { tool, delta, stop } = stream();
    expect(tool(0)).toMatchObject({ type: 'partial', isFirst: true });
    delta(0, '{"path":');
    expect(delta(0, '"a"}')).toMatchObject({ type: 'partial', isFirst: false, block: { text: '{"path":"a"}' } });
    const block = { type: 'tool_use', id: 'call-0', name: 'Read', input: { path: 'a' } };
    expect(stop(0)).toEqual({ type: 'block', block, message: { role: 'assistant', content: [block] } });
  });

  it('keeps blocks apart that stream in together', () => {
    const { tool, delta, stop } = stream();
    tool(0);
    tool(1);
    delta(1, '{"n":1}');
    delta(0, '{"n":0}');
    expect([stop(1), stop(0)]).toMatchObject([{ block: { input: { n: 1 } } }, { block: { input: { n: 0 } } }]);
  });

  it('takes the input of the start where no piece follows', () => {
    const { start, stop } = stream();
    start(0, { type: 'tool_use', id: 'a', name: 'Read', input: { path: 'a' } });
    expect(stop(0)).toMatchObject({ block: { input: { path: 'a' } } });
  });

  it('hands on as text what is no JSON: the schema will say so', () => {
    const { tool, delta, stop } = stream();
    tool(0);
    delta(0, '{"path":');
    expect(stop(0)).toMatchObject({ type: 'block', block: { input: '{"path":' } });
  });

  it.each([
    ['is nested too deep', '['.repeat(MAX_JSON_DEPTH + 1) + ']'.repeat(MAX_JSON_DEPTH + 1), 'too_deep'],
    ['reaches a prototype', '{"__proto__":{"admin":true}}', 'forbidden_key'],
  ])('refuses an input that %s', (_what, json, reason) => {
    const { tool, delta, stop } = stream();
    tool(0);
    delta(0, json);
    expect(() => stop(0)).toThrow(expect.objectContaining({ code: 'invalid_request', details: { reason } }));
  });

  it('keeps of a long message what there is room for, and takes its blocks all the same', () => {
    const { assembler, start, tool, stop } = stream();
    const text = (index: number, chars: number) => {
      start(index, { type: 'text', text: '' });
      const delta = { type: 'text_delta', text: 'x'.repeat(chars) };
      assembler.push('t', { type: 'content_block_delta', index, delta });
      stop(index);
    };
    text(0, MORE_THAN_HALF);
    text(1, MORE_THAN_HALF);
    tool(2);
    const content = [{ text: 'x'.repeat(MORE_THAN_HALF) }, { text: '' }, { id: 'call-2' }];
    expect(stop(2)).toMatchObject({ type: 'block', message: { content } });
  });

  it('passes over text, thinking and events it does not know', () => {
    const { assembler, start, stop } = stream();
    expect(start(0, { type: 'text', text: '' })).toEqual({ type: 'nothing' });
    expect(
      assembler.push('t', { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hi' } }),
    ).toEqual({ type: 'nothing' });
    expect([stop(0), assembler.push('t', { type: 'ping' }), assembler.push('t', { type: 'message_delta' })]).toEqual(
      Array(3).fill({ type: 'nothing' }),
    );
  });

  it('begins anew with each message', () => {
    const { assembler, tool, stop } = stream();
    tool(0);
    expect(assembler.push('t', { type: 'message_start', message: {} })).toEqual({ type: 'start' });
    expect(stop(0)).toEqual({ type: 'nothing' });
    expect(assembler.push('t', { type: 'message_stop' })).toEqual({ type: 'stop' });
  });

  it.each([
    ['no object', 7],
    ['no type', {}],
    ['no index', { type: 'content_block_stop' }],
    ['no id', { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', name: 'Read' } }],
    [
      'an id that is none',
      { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'a\nb', name: 'Read' } },
    ],
    [
      'a name without end',
      { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'a', name: 'x'.repeat(300) } },
    ],
  ])('refuses an event with %s', (_what, event) => {
    expect(() => stream().assembler.push('t', event)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });

  it('holds only so much of blocks that do not close', () => {
    const { tool, delta, stop } = stream();
    for (let index = 0; index < MAX_BATCH_BLOCKS; index++) tool(index);
    expect(() => tool(MAX_BATCH_BLOCKS)).toThrow(expect.objectContaining({ code: 'payload_too_large' }));
    delta(0, 'x'.repeat(MORE_THAN_HALF));
    expect(() => delta(1, 'x'.repeat(MORE_THAN_HALF))).toThrow(expect.objectContaining({ code: 'payload_too_large' }));
    expect(stop(1)).toEqual({ type: 'nothing' });
    expect(stop(0)).toMatchObject({ type: 'block' });
  });
});
