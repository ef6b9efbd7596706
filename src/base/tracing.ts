/**
 * Spans of calls for OpenTelemetry, where the operator has loaded an SDK before the server.
 *
 * Names and attributes follow the GenAI conventions of OpenTelemetry 1.41: one span `execute_tool` a call, and below it
 * `wait`, `gate` and `run`. Without an SDK nothing is loaded, and a call costs one comparison.
 */
import type { Context, Span, SpanOptions, TextMapPropagator, Tracer } from '@opentelemetry/api';

/** Global key under which the API keeps the SDK that a program has registered, for all copies of one major version. */
const REGISTRY = Symbol.for('opentelemetry.js.api.1');

/** Version of the conventions that names and attributes are of. */
const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.41.0';

/** The switch of other GenAI instrumentations for inputs and outputs, which are in no span without it. */
const CONTENT_VARIABLE = 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT';
const CONTENT_IN_SPANS = /^(true|span_only|span_and_event)$/i;

/** Longest input or output in a span, in characters. */
const MAX_CONTENT_CHARS = 16_384;

/** Queue time that is worth a span: most calls start in the turn of the event loop in which they are accepted. */
const MIN_QUEUE_MS = 1;

/** Difference between the wall clock and the monotonic one after which spans take the wall clock's time again. */
const MAX_DRIFT_MS = 10;

/** A shutdown waits no longer for the SDK to export what it has. */
const FLUSH_MS = 2_000;

/** Headers of W3C Trace Context by name, in lower case. */
export type TraceHeaders = Readonly<Record<string, string>>;

/** A span elsewhere that calls belong to: below it, or linked to it where it is not what they do. */
export interface TraceOrigin {
  readonly context: Context;
  readonly relation: 'parent' | 'link';
}

/** Facts of a call that are known when it is accepted. */
export interface TracedCall {
  readonly toolName: string;
  /** Absent for a tool that does not exist. */
  readonly toolOrigin?: string | undefined;
  readonly toolUseId: string;
  readonly sessionId: string;
  readonly turnId: string;
  readonly input: unknown;
}

/** Outcome of a call, as far as its span shows it. */
export interface TracedOutcome {
  readonly status: string;
  readonly errorCode?: string | undefined;
  readonly content?: unknown;
  readonly decided?: { readonly behavior: string; readonly reason: { readonly type: string } } | undefined;
}

/** Access to the trace of a call for what runs in it. */
export interface RunningTrace {
  /** Return the headers of a request that the call makes. */
  headers(): TraceHeaders;
  /** Begin the span of a request to a model. */
  chat(request: { readonly provider: string; readonly model: string }): ChatTrace;
}

/** Span of one request to a model. */
export interface ChatTrace {
  readonly headers: TraceHeaders;
  /** @param reply undefined if there was none. */
  ended(reply: { readonly inputTokens: number; readonly outputTokens: number } | undefined): void;
}

interface Tracing {
  readonly tracer: Tracer;
  readonly api: typeof import('@opentelemetry/api');
  readonly isContentShown: boolean;
}

/** One a process, as the API itself is. */
let tracing: Tracing | undefined;
let driftMs = performance.timeOrigin;

/** Begin to trace calls if an SDK is registered. @param version Of the server. */
export async function startTracing(version: string): Promise<void> {
  if (!(REGISTRY in globalThis)) return;
  const api = await import('@opentelemetry/api');
  tracing = {
    tracer: api.trace.getTracerProvider().getTracer('gauntlet', version, { schemaUrl: SCHEMA_URL }),
    api,
    isContentShown: CONTENT_IN_SPANS.test(process.env[CONTENT_VARIABLE] ?? ''),
  };
}

/** Let the SDK export the spans that have ended, within `FLUSH_MS`; never rejects. */
export async function flushTraces(): Promise<void> {
  const provider = tracing?.api.trace.getTracerProvider() as Flushable | undefined;
  const { forceFlush } = provider?.getDelegate?.() ?? provider ?? {};
  if (forceFlush === undefined) return;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, FLUSH_MS);
  });
  const flushed = Promise.resolve().then(() => forceFlush.call(provider?.getDelegate?.() ?? provider));
  // An exporter that fails has lost its spans, which ends no server.
  await Promise.race([flushed.catch(() => undefined), late]);
  clearTimeout(timer);
}

/** Methods that providers of SDKs have beyond the API. */
interface Flushable {
  getDelegate?(): Flushable;
  forceFlush?(): Promise<void>;
}

/**
 * Read the trace that a request belongs to: the SDK's own span of the request if there is one, else that of its headers.
 *
 * @param relation `link` for a connection that carries many requests.
 * @returns undefined for a request without a trace, and where nothing is traced.
 */
export function traceOrigin(
  headers: Readonly<Record<string, unknown>>,
  relation: TraceOrigin['relation'] = 'parent',
): TraceOrigin | undefined {
  if (tracing === undefined) return undefined;
  const { api } = tracing;
  const active = api.context.active();
  const context = api.trace.getSpan(active) ? active : api.propagation.extract(active, headers, GETTER);
  return api.trace.getSpanContext(context) && { context, relation };
}

/** Header values; a repeated header is no trace. */
const GETTER = {
  keys: (headers: Readonly<Record<string, unknown>>) => Object.keys(headers),
  get: (headers: Readonly<Record<string, unknown>>, name: string) => {
    const value = headers[name];
    return typeof value === 'string' ? value : undefined;
  },
} satisfies Parameters<TextMapPropagator['extract']>[2];

/** Begin the span of an accepted call. @returns undefined where nothing is traced. */
export function traceCall(origin: TraceOrigin | undefined, call: TracedCall): CallTrace | undefined {
  return tracing && new CallTrace(tracing, origin, call);
}

/** The spans of one call. Told of each step that the call takes, in order. */
export class CallTrace implements RunningTrace {
  readonly #tracing: Tracing;
  readonly #span: Span;
  readonly #context: Context;
  readonly #isRecording: boolean;
  readonly #acceptedMs: number;
  /** Gate or run, whichever the call is at. */
  #step: Span | undefined;
  #question: Span | undefined;

  /** Use `traceCall`. */
  constructor(tracing: Tracing, origin: TraceOrigin | undefined, call: TracedCall) {
    const { api, tracer } = tracing;
    const { context: from = api.ROOT_CONTEXT, relation } = origin ?? {};
    const linked = relation === 'link' ? api.trace.getSpanContext(from) : undefined;
    this.#tracing = tracing;
    this.#acceptedMs = nowMs();
    const name = call.toolOrigin === undefined ? 'execute_tool' : `execute_tool ${call.toolName}`;
    const options = {
      startTime: this.#acceptedMs,
      attributes: callAttributes(call, tracing),
      ...(linked && { links: [{ context: linked }] }),
    } satisfies SpanOptions;
    const parent = linked ? api.ROOT_CONTEXT : from;
    this.#span = tracer.startSpan(name, options, parent);
    this.#isRecording = this.#span.isRecording();
    this.#context = api.trace.setSpan(parent, this.#span);
  }

  /** Origin of the calls that this one makes. */
  origin(): TraceOrigin {
    return { context: this.#here(), relation: 'parent' };
  }

  headers(): TraceHeaders {
    return this.#headersIn(this.#here());
  }

  chat({ provider, model }: Parameters<RunningTrace['chat']>[0]): ChatTrace {
    const { api, tracer } = this.#tracing;
    const attributes = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': provider,
      'gen_ai.request.model': model,
    };
    const options = { startTime: nowMs(), kind: api.SpanKind.CLIENT, attributes };
    const span = tracer.startSpan(`chat ${model}`, options, this.#here());
    return {
      headers: this.#headersIn(api.trace.setSpan(this.#context, span)),
      ended(reply) {
        if (reply) {
          span.setAttribute('gen_ai.usage.input_tokens', reply.inputTokens);
          span.setAttribute('gen_ai.usage.output_tokens', reply.outputTokens);
        } else {
          span.setAttribute('error.type', '_OTHER');
          span.setStatus({ code: api.SpanStatusCode.ERROR });
        }
        span.end(nowMs());
      },
    };
  }

  /** The call leaves its queue for the gate. */
  executing(): void {
    if (!this.#isRecording) return;
    const now = nowMs();
    if (now - this.#acceptedMs >= MIN_QUEUE_MS) this.#wait(this.#acceptedMs, 'queue').end(now);
    this.#begin('gate', now);
  }

  /** The gate is passed. */
  admitted(): void {
    if (!this.#isRecording) return;
    const now = nowMs();
    this.#step?.end(now);
    this.#begin('run', now);
  }

  /** A person is asked, by the gate or by what runs; asked again, it is the same wait. */
  asked(): void {
    if (this.#isRecording) this.#question ??= this.#wait(nowMs(), 'person');
  }

  /** The question is settled. @param by Principal that answered, or `timeout`, `rule`, `cancelled`. */
  answered(behavior: string, by: string): void {
    this.#question?.setAttributes({ 'gauntlet.answer.behavior': behavior, 'gauntlet.answer.by': by });
    this.#question?.end(nowMs());
    this.#question = undefined;
  }

  /** The call is over. */
  ended({ status, errorCode, content, decided }: TracedOutcome): void {
    if (!this.#isRecording) return void this.#span.end();
    const now = nowMs();
    const { api, isContentShown } = this.#tracing;
    this.#question?.end(now);
    this.#step?.end(now);
    this.#span.setAttribute('gauntlet.call.status', status);
    if (decided) {
      this.#span.setAttribute('gauntlet.decision.behavior', decided.behavior);
      this.#span.setAttribute('gauntlet.decision.reason', decided.reason.type);
    }
    if (errorCode !== undefined) {
      this.#span.setAttribute('error.type', errorCode);
      // Without a message, which may hold what was in the input.
      this.#span.setStatus({ code: api.SpanStatusCode.ERROR });
    }
    if (isContentShown) this.#span.setAttribute('gen_ai.tool.call.result', contentText(content));
    this.#span.end(now);
  }

  #begin(name: 'gate' | 'run', atMs: number): void {
    this.#step = this.#tracing.tracer.startSpan(name, { startTime: atMs }, this.#context);
  }

  #wait(startTime: number, reason: 'queue' | 'person'): Span {
    const attributes = { 'gauntlet.wait.for': reason };
    return this.#tracing.tracer.startSpan('wait', { startTime, attributes }, this.#here());
  }

  /** Context of what happens now. Made when it is needed, which it is not by most calls. */
  #here(): Context {
    return this.#step ? this.#tracing.api.trace.setSpan(this.#context, this.#step) : this.#context;
  }

  #headersIn(context: Context): TraceHeaders {
    const headers: Record<string, string> = {};
    this.#tracing.api.propagation.inject(context, headers);
    return headers;
  }
}

function callAttributes(call: TracedCall, { isContentShown }: Tracing): NonNullable<SpanOptions['attributes']> {
  const { toolName, toolOrigin = 'unknown', toolUseId, sessionId, turnId, input } = call;
  return {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': toolName,
    'gen_ai.tool.call.id': toolUseId,
    // In the words of the conventions: a tool of another server is an extension.
    'gen_ai.tool.type': toolOrigin === 'mcp' ? 'extension' : 'function',
    'gauntlet.tool.origin': toolOrigin,
    'gauntlet.session.id': sessionId,
    'gauntlet.turn.id': turnId,
    ...(toolOrigin === 'mcp' && { 'mcp.method.name': 'tools/call' }),
    ...(isContentShown && { 'gen_ai.tool.call.arguments': contentText(input) }),
  };
}

function contentText(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.slice(0, MAX_CONTENT_CHARS);
}

/** Milliseconds since the epoch that never go back within a call, with fractions. */
function nowMs(): number {
  const monotonicMs = performance.now();
  const wallMs = Date.now();
  if (Math.abs(wallMs - driftMs - monotonicMs) > MAX_DRIFT_MS) driftMs = wallMs - monotonicMs;
  return driftMs + monotonicMs;
}
