/**
 * Runs a block as a turn of its session, for a request of an MCP client: progress, questions, cancellation, result.
 */
import { randomUUID } from 'node:crypto';
import { inputRequired, type InputRequiredResult, type Server, type ServerContext } from '@modelcontextprotocol/server';
import { cutText } from '../../src/base/cut-text.ts';
import { isGauntletError } from '../../src/base/errors.ts';
import type { JsonValue } from '../../src/base/json.ts';
import { traceOrigin, type TraceOrigin } from '../../src/base/tracing.ts';
import type { Session } from '../../src/session/session.ts';
import type { TurnReply } from '../../src/session/turn/turn-reply.ts';
import type { PermissionRequestFrame, ProgressFrame } from '../../src/wire/frames.ts';
import { toElicitation, toPromptAnswer } from './elicitation.ts';

/** Least time between two notifications of progress: a client that reads slowly must not make them pile up. */
const PROGRESS_PAUSE_MS = 50;

/** Longest message of a notification of progress, in characters. */
const MAX_PROGRESS_CHARS = 2_000;

/** Name of the question in an `input_required` result, of which each has one. */
const QUESTION = 'question';

/** State that a client sends back with the answer to a question. */
export type CallState =
  | { readonly kind: 'question'; readonly toolUseId: string; readonly requestId: string }
  /** A state of an upstream, which takes it back as it was. */
  | { readonly kind: 'upstream'; readonly state: string };

/** A block to run for a request. */
export interface RequestedCall {
  readonly session: Session;
  readonly name: string;
  readonly input: JsonValue;
  /** The server that received the request. */
  readonly server: Server;
  readonly context: ServerContext;
  readonly era: 'legacy' | 'modern';
  readonly askTimeoutMs: number;
  /** Called before the block is accepted. @returns A function to call when the request has been answered. */
  begin?(toolUseId: string): () => void;
  /** Report an internal error to the operator's log. */
  onFault(error: unknown, what: string): void;
  /** Seal the state that a client sends back. */
  mint(state: CallState, context: ServerContext): Promise<string>;
}

/** Result of a call: its reply, or a question that the client of the modern era has to answer first. */
export type CallEnd =
  | { readonly kind: 'done'; readonly reply: TurnReply }
  | { readonly kind: 'asks'; readonly result: InputRequiredResult };

/** Runs a block by the name of its tool, in the session of a request. */
export type RunBlock = (name: string, input: JsonValue, context: ServerContext) => Promise<[CallEnd, Session]>;

/**
 * Run the block, or rejoin it where the request brings the answer to its question.
 *
 * @throws {GauntletError} As `Session.submit`; `cancelled` if the client went away.
 */
export async function runCall(call: RequestedCall): Promise<CallEnd> {
  const state = call.context.mcpReq.requestState<CallState>();
  const answered = state?.kind === 'question' ? state : undefined;
  const id = answered?.toolUseId ?? `mcp_${randomUUID()}`;
  const finish = call.begin?.(id);
  try {
    return await runBlock(call, id, answered);
  } finally {
    finish?.();
  }
}

/** Run the block under its id. @param answered The question that the request brings the answer to. */
async function runBlock(
  call: RequestedCall,
  id: string,
  answered: Extract<CallState, { kind: 'question' }> | undefined,
): Promise<CallEnd> {
  const { session, name, input, context, era } = call;
  const mayAsk = mayElicit(call.server);
  // A client that cannot be asked leaves questions to others who watch the session; where nobody does, they are denied.
  const policy = mayAsk ? ({ onAsk: 'wait', askTimeoutMs: call.askTimeoutMs } as const) : {};
  const blocks = [{ type: 'tool_use', id, name, input }] as const;
  const turn = await session.submit({ blocks, ...policy, trace: originOf(context) });
  if (answered) await answer(call, answered.requestId, context.mcpReq.inputResponses?.[QUESTION]);

  const { signal } = context.mcpReq;
  const onAbort = () => void session.cancel({ toolUseId: id });
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const over = new AbortController();
  const ended = AbortSignal.any([signal, over.signal]);
  try {
    const done = session.collect(turn, ended).then((reply): CallEnd => ({ kind: 'done', reply }));
    // Who sends the call itself tells of its progress itself.
    const sendProgress = call.begin ? undefined : progressSender(context);
    if (!mayAsk && !sendProgress) return await done;
    const asked = new Promise<PermissionRequestFrame>((resolve, reject) => {
      const ask = era === 'modern' ? resolve : (question: PermissionRequestFrame) => elicit(call, question, ended);
      followCall(session, { id, after: turn.after }, { sendProgress, ask: mayAsk ? ask : undefined }, ended).catch(
        reject,
      );
    });
    return await Promise.race([done, asked.then((question) => inputRequest(call, id, question))]);
  } finally {
    signal.removeEventListener('abort', onAbort);
    over.abort();
  }
}

/** Return the trace that a request names in its `_meta`, else that of the HTTP request that it came in. */
function originOf({ mcpReq, http }: ServerContext): TraceOrigin | undefined {
  const { traceparent, tracestate } = mcpReq._meta ?? {};
  if (traceparent !== undefined) return traceOrigin({ traceparent, tracestate });
  return traceOrigin(Object.fromEntries(http?.req?.headers ?? []));
}

/** Report whether a client can show a form to a person. A bare `elicitation: {}` is that, from before there were others. */
function mayElicit(server: Server): boolean {
  const elicitation = server.getClientCapabilities()?.elicitation;
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** Callbacks for the frames of a call. */
interface Follower {
  readonly sendProgress: ((frame: ProgressFrame) => void) | undefined;
  readonly ask: ((question: PermissionRequestFrame) => void) | undefined;
}

/** Pass on the frames of a call, of the calls that it makes, and of child sessions, until `signal` aborts. */
async function followCall(
  session: Session,
  { id, after }: { readonly id: string; readonly after: number },
  { sendProgress, ask }: Follower,
  signal: AbortSignal,
): Promise<void> {
  const ids = new Set([id]);
  const seen = new Set<string>();
  const askOnce = (question: PermissionRequestFrame) => {
    const { request_id: requestId, tool_use_id: toolUseId, parent_tool_use_id: parentId } = question;
    if (seen.has(requestId) || !(ids.has(toolUseId) || ids.has(parentId ?? ''))) return;
    seen.add(requestId);
    ask?.(question);
  };
  // A call that was rejoined may have asked before.
  session.prompts().forEach(askOnce);
  for await (const page of session.read(after, { live: true, signal, onGap: () => undefined })) {
    for (const logged of page) {
      if (!FOLLOWED.has(logged.type)) continue;
      const { frame } = logged;
      if (frame.type === 'tool_use' && ids.has(frame.parent_tool_use_id ?? '')) ids.add(frame.tool_use.id);
      else if (frame.type === 'progress' && ids.has(frame.tool_use_id)) sendProgress?.(frame);
      else if (frame.type === 'permission_request') askOnce(frame);
    }
  }
}

const FOLLOWED: ReadonlySet<string> = new Set(['tool_use', 'progress', 'permission_request']);

/** Create the function that sends progress; undefined if the client wants none. */
function progressSender({ mcpReq }: ServerContext): ((frame: ProgressFrame) => void) | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let progress = 0;
  let sentMs = -Infinity;
  return ({ data }) => {
    const nowMs = performance.now();
    // A reader that is slow must not make notifications pile up.
    if (nowMs - sentMs < PROGRESS_PAUSE_MS) return;
    sentMs = nowMs;
    const { text, message = text, progress: upstream, total } = data as Partial<Record<string, unknown>>;
    // The value has to grow each time, whatever the upstream's own does.
    progress = typeof upstream === 'number' && upstream > progress ? upstream : progress + 1;
    const params = {
      progressToken,
      progress,
      ...(typeof total === 'number' && total >= progress && { total }),
      message: cutText(typeof message === 'string' ? message : data.type, MAX_PROGRESS_CHARS),
    };
    // A client that has gone needs none.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
}

/** Ask a client of the earlier era, and answer with what it says; an answer of another takes the question back. */
function elicit(call: RequestedCall, question: PermissionRequestFrame, ended: AbortSignal): void {
  const settled = new AbortController();
  const options = { timeout: call.askTimeoutMs, signal: AbortSignal.any([ended, settled.signal]) };
  void untilSettled(call.session, question.request_id, options.signal).then(() => settled.abort());
  call.context.mcpReq
    .elicitInput(toElicitation(question), options)
    // A client that fails to ask has said no.
    .catch((): unknown => undefined)
    .then((sent) => (options.signal.aborted ? undefined : answerOnce(call, question, sent)))
    .finally(() => settled.abort())
    .catch((error: unknown) => call.onFault(error, 'An answer of an MCP client could not be taken'));
}

/** Resolves when a question is no longer open, or `signal` aborts. */
async function untilSettled(session: Session, requestId: string, signal: AbortSignal): Promise<void> {
  const { head } = session.bounds();
  for await (const page of session.read(head, { live: true, signal, onGap: () => undefined })) {
    const isSettled = page.some(
      ({ type, frame }) =>
        type === 'permission_resolved' && frame.type === 'permission_resolved' && frame.request_id === requestId,
    );
    if (isSettled) return;
  }
}

/** Make the result that asks a client of the modern era, which sends the request again with the answer. */
async function inputRequest(
  call: RequestedCall,
  toolUseId: string,
  question: PermissionRequestFrame,
): Promise<CallEnd> {
  const state = { kind: 'question', toolUseId, requestId: question.request_id } as const;
  const requestState = await call.mint(state, call.context);
  const inputRequests = { [QUESTION]: inputRequired.elicit(toElicitation(question)) };
  return { kind: 'asks', result: inputRequired({ inputRequests, requestState }) };
}

/** Answer the question that a request brings the answer to. Without one, the question stays open and is asked again. */
async function answer(call: RequestedCall, requestId: string, sent: unknown): Promise<void> {
  const question = call.session.prompts().find(({ request_id }) => request_id === requestId);
  if (question && sent !== undefined) await answerOnce(call, question, sent);
}

/** Answer a question; that somebody else was faster is no error. */
async function answerOnce({ session }: RequestedCall, question: PermissionRequestFrame, sent: unknown): Promise<void> {
  try {
    await session.answer(question.request_id, toPromptAnswer(question, sent), session.principal);
  } catch (error) {
    if (!isGauntletError(error, 'conflict', 'not_found')) throw error;
  }
}
