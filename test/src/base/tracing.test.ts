/** Spans of calls, in a process with the SDK; the server as a whole is in test/protocol/tracing.test.ts. */
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { describe, expect, it } from 'vitest';
import { startTracing, traceCall, traceOrigin } from '../../../src/base/tracing.ts';

const CONTENT_VARIABLE = 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT';
const exporter = new InMemorySpanExporter();
const facts = { toolName: 'Bash', toolOrigin: 'built_in', toolUseId: 'a', sessionId: 's', turnId: 't' };
const headers = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };

/** Trace one call. @returns Its spans, the last to end at the end. */
function callOf(input: unknown, content: string) {
  exporter.reset();
  const trace = traceCall(traceOrigin(headers), { ...facts, input });
  trace?.executing();
  trace?.admitted();
  trace?.ended({ status: 'ok', content });
  return exporter.getFinishedSpans();
}

describe('tracing', () => {
  it('is off in a process without an SDK', async () => {
    await startTracing('1');
    expect([traceOrigin(headers), traceCall(undefined, { ...facts, input: {} })]).toEqual([undefined, undefined]);
  });

  it('shows inputs and outputs only where the variable of the conventions says so, and cuts them', async () => {
    new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
    await startTracing('1');
    const plain = callOf({ command: 'echo' }, 'out').at(-1)?.attributes ?? {};
    expect(Object.keys(plain).filter((name) => /arguments|result/.test(name))).toEqual([]);

    process.env[CONTENT_VARIABLE] = 'SPAN_ONLY';
    await startTracing('1');
    delete process.env[CONTENT_VARIABLE];
    const shown = callOf({ command: 'echo' }, 'x'.repeat(20_000)).at(-1)?.attributes;
    expect(shown?.['gen_ai.tool.call.arguments']).toBe('{"command":"echo"}');
    expect(shown?.['gen_ai.tool.call.result']).toBe('x'.repeat(16_384));
  });

  it('hands on a trace that is not recorded, without spans', () => {
    const unsampled = { traceparent: headers.traceparent.replace(/01$/, '00') };
    exporter.reset();
    const trace = traceCall(traceOrigin(unsampled), { ...facts, input: {} });
    trace?.executing();
    expect(trace?.headers()['traceparent']).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-00$/);
    trace?.ended({ status: 'ok' });
    expect(exporter.getFinishedSpans()).toEqual([]);
  });

  it('takes no trace from headers that are repeated or malformed', () => {
    const { traceparent } = headers;
    for (const bad of [[traceparent, traceparent], 'nonsense', `${traceparent}-`.repeat(9), 5])
      expect(traceOrigin({ traceparent: bad })).toBeUndefined();
  });
});
