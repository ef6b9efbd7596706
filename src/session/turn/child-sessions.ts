/**
 * The child sessions of one call, or of a task that it started: opened with at most its session's permissions, relayed in the
 * frames of the call, and ended with
 * it.
 */
import { randomBytes } from 'node:crypto';
import { GauntletError } from '../../base/errors.ts';
import type { OpenedFrame } from '../../wire/frames.ts';
import { isInWorkingDirectories, realFolder } from '../../files/working-directories.ts';
import type { ChildOptions, ChildSession, InnerBlock, InnerCallOptions, InnerResult } from '../../tool/inner-call.ts';
import type { ToolPermissionContext } from '../../wire/permission-context.ts';
import { MAX_PROGRESS_CHARS, type ToolProgress } from '../../tool/tool.ts';
import type { LoggedFrame } from '../../log/frame-log.ts';
import { narrowerBound } from '../../permissions/child-permissions.ts';
import { isBeyond, loweredMode } from '../../permissions/mode-order.ts';
import { parseRule, ruleKeys } from '../../permissions/rule.ts';
import type { ToolPool } from '../../pool/tool-pool.ts';
import type { RunControl } from '../../schedule/scheduled-call.ts';
import type { TaskCall } from '../../tasks/session-tasks.ts';
import type { Call } from './turn.ts';
import { loggedWorktree } from '../context-frame.ts';
import { checkOutputSchema } from '../directory/new-session.ts';
import type { SessionCore } from '../session-core.ts';
import type { ClimbingFrame, ParentLink, RunningChild } from '../session-services.ts';
import { depthOf, MAX_DEPTH } from './inner-calls.ts';

/** Services of the call, or its task, for the child sessions that it opens. */
export interface OpeningCall {
  readonly call: Call;
  readonly steps: Pick<RunControl, 'signal' | 'node'>;
  /** It has ended: it opens no more children. */
  isOver(): boolean;
  /** Absent where nothing shows progress: a task, whose call has ended. */
  onProgress?(progress: ToolProgress): void;
}

/** Child sessions that one call has open at once; each is a session in memory, with a log of its own. */
const MAX_OPEN = 16;

/** Children of one call in all: each leaves a log behind that goes with its parent's. */
const MAX_OPENED = 1_000;

/** Maximum of ids in one fact, so that a long list is not rewritten with each child. */
const IDS_IN_FACT = 64;

/** List the children that calls of a session have opened, oldest first. They are deleted with it. */
export function childIdsOf(log: SessionCore['services']['log'], sessionId: string): readonly string[] {
  const ids: string[] = [];
  for (let part = 0; ; part++) {
    const kept = log.fact(sessionId, factOf(part)) as readonly string[] | null | undefined;
    if (kept === undefined) return ids;
    ids.push(...(kept ?? []));
  }
}

function factOf(part: number): string {
  return `children:${part}`;
}

/** The children of one call. */
export class ChildSessions {
  readonly #core: SessionCore;
  readonly #call: OpeningCall;
  /** Taken at once: a task goes on after its call has let go of it. */
  readonly #trace: Call['trace'];
  readonly #open = new Map<RunningChild, { readonly relay?: Relay; ending?: Promise<void> }>();
  #opening = 0;
  #openedCount = 0;

  constructor(core: SessionCore, call: OpeningCall) {
    this.#core = core;
    this.#call = call;
    this.#trace = call.call.trace;
  }

  /** As `OpenChild`. */
  async open(options: ChildOptions = {}): Promise<ChildSession> {
    this.#refuseWhenOver();
    this.#refuseTooMany();
    const { permissions } = this.#core.context;
    const opened = openedFrame(this.#core, this.#call.call, options);
    this.#opening++;
    if (this.#openedCount++ === 0)
      this.#call.steps.signal.addEventListener('abort', () => void this.end(), { once: true });
    try {
      const child = await this.#begin(opened, permissions);
      return {
        sessionId: child.sessionId,
        tools: () => child.tools(),
        permissions: () => child.permissions(),
        run: (block, given) => {
          const running = this.#run(child, block, given);
          // A tool need not await the call, as with an inner call.
          running.catch(() => undefined);
          return running;
        },
        end: () => this.#end(child, 'Cancelled: its session was ended'),
      };
    } finally {
      this.#opening--;
    }
  }

  /** End the children, when the call is over. @returns Once their frames are progress of the call. */
  async end(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((child) => this.#end(child, 'The call that opened it has ended')));
  }

  #refuseWhenOver(): void {
    this.#call.steps.signal.throwIfAborted();
    if (this.#call.isOver()) throw new GauntletError('cancelled', 'Cannot use a child session: the call has ended');
  }

  #refuseTooMany(): void {
    if (depthOf(this.#core, this.#call.call) >= MAX_DEPTH)
      throw exhausted(`calls and sessions go ${MAX_DEPTH} levels deep at most`);
    if (this.#open.size + this.#opening >= MAX_OPEN) throw exhausted(`one call has ${MAX_OPEN} at most`);
    if (this.#openedCount >= MAX_OPENED) throw exhausted(`one call opens ${MAX_OPENED} at most, one after another`);
  }

  async #begin(opened: OpenedFrame, before: ToolPermissionContext): Promise<RunningChild> {
    const core = this.#core;
    const { call, steps } = this.#call;
    await call.accepting;
    await keepChildId(core, opened.session_id);
    this.#refuseWhenOver();
    const { beginChild } = core.services;
    if (!beginChild) throw new GauntletError('tool_failed', 'There are no child sessions here');
    const child = await beginChild(opened, (begun): ParentLink => {
      const climb = (frame: ClimbingFrame) => {
        const ids = { parent_tool_use_id: call.toolUseId, session_id: frame.session_id ?? opened.session_id };
        core.climb({ ...frame, ...ids }, begun);
      };
      return { rootId: core.rootId, depth: depthOf(core, call) + 1, isWatched: () => core.isWatched, climb };
    });
    const { onProgress } = this.#call;
    this.#open.set(child, onProgress ? { relay: new Relay(core, child.sessionId, onProgress) } : {});
    core.children.add(child);
    // Changes made while the child was being written to disk.
    child.follow(before, core.context.permissions);
    const { abortedBy } = steps.node;
    if (abortedBy || this.#call.isOver()) await this.#end(child, 'The call that opened it has ended');
    this.#refuseWhenOver();
    return child;
  }

  async #run(child: RunningChild, block: InnerBlock, options?: InnerCallOptions): Promise<InnerResult> {
    this.#refuseWhenOver();
    const open = this.#open.get(child);
    if (!open || open.ending) throw new GauntletError('cancelled', 'Cannot use a child session: it was ended');
    const { askTimeoutMs } = this.#call.call.askPolicy;
    const result = await child.run(block, { ...options, askTimeoutMs, trace: this.#trace?.origin() });
    this.#call.steps.signal.throwIfAborted();
    return result;
  }

  /** End a child; repeated calls wait for the same end. */
  #end(child: RunningChild, message: string): Promise<void> {
    const open = this.#open.get(child);
    if (!open) return Promise.resolve();
    return (open.ending ??= this.#endOnce(child, open.relay, message));
  }

  async #endOnce(child: RunningChild, relay: Relay | undefined, message: string): Promise<void> {
    const { abortedBy } = this.#call.steps.node;
    await child.end(abortedBy?.code ?? 'cancelled', abortedBy?.message ?? message);
    await relay?.finish();
    this.#core.children.delete(child);
    this.#open.delete(child);
  }
}

/** Forwards the frames of a child as progress of the call that opened it. */
class Relay {
  readonly #core: SessionCore;
  readonly #sessionId: string;
  readonly #onProgress: NonNullable<OpeningCall['onProgress']>;
  readonly #stopping = new AbortController();
  readonly #following: Promise<void>;
  #last = 0;

  constructor(core: SessionCore, sessionId: string, onProgress: NonNullable<OpeningCall['onProgress']>) {
    this.#core = core;
    this.#sessionId = sessionId;
    this.#onProgress = onProgress;
    this.#following = this.#handOn({ live: true, signal: this.#stopping.signal });
  }

  /** Forward the remaining frames, and stop. */
  async finish(): Promise<void> {
    this.#stopping.abort();
    await this.#following;
    await this.#handOn({ live: false });
  }

  async #handOn(options: { readonly live: boolean; readonly signal?: AbortSignal }): Promise<void> {
    const { log, onFault } = this.#core.services;
    try {
      for await (const page of log.read(this.#sessionId, this.#last, options)) {
        for (const logged of page) {
          this.#last = logged.seq;
          this.#onProgress({ data: agentData(this.#sessionId, logged, MAX_PROGRESS_CHARS) });
        }
      }
    } catch (error) {
      // Only the display suffers: the frames are in the child's log.
      onFault(error, 'Frames of a child session could not be read');
    }
  }
}

/** Build the progress data. A long frame is referenced by number, since the child's log contains it. */
function agentData(sessionId: string, { seq, type, text, frame }: LoggedFrame, mostChars: number) {
  const shown = text.length <= mostChars ? frame : { seq, ts: frame.ts, type, is_cut: true };
  return { type: 'agent', session_id: sessionId, frame: shown };
}

/** Build the first frame of a child. @throws {GauntletError} `forbidden`, `invalid_request` */
function openedFrame(
  { opened, context, pool, services }: SessionCore,
  { toolUseId, askPolicy }: Call,
  { title, mode, rules, tools, outputSchema, worktree = context.worktree, atMost }: ChildOptions,
): OpenedFrame {
  checkOutputSchema(outputSchema, services);
  if (worktree !== context.worktree) checkWorktree(context, worktree);
  const { permissions, root, toolMode } = context;
  if (mode !== undefined && isBeyond(mode, permissions.mode)) {
    const message = `Cannot open a child session in mode "${mode}": its parent is in mode "${permissions.mode}"`;
    throw new GauntletError('forbidden', message, { details: { reason: 'child_session' } });
  }
  const { rules: own, ...bound } = narrowerBound(permissions, atMost);
  const lists = [tools, bound.tools].filter((list) => list !== undefined);
  const more = (given: readonly string[] = []) => given.map((rule) => parseRule(rule).text);
  return {
    type: 'opened',
    session_id: `ses_${randomBytes(16).toString('base64url')}`,
    principal: opened.principal,
    created_at: new Date().toISOString(),
    cwd: root,
    tool_mode: toolMode,
    tools: lists.length > 0 ? commonTools(pool, lists) : opened.tools,
    output_schema: outputSchema,
    tool_search: 'references',
    on_ask: askPolicy.onAsk ?? opened.on_ask,
    title,
    mode: loweredMode(mode ?? bound.mode, bound.mode),
    rules: { allow: own.allow, ask: [...own.ask, ...more(rules?.ask)], deny: [...own.deny, ...more(rules?.deny)] },
    additional_directories: bound.additionalDirectories,
    workspace_settings: opened.workspace_settings,
    parent: { session_id: opened.session_id, tool_use_id: toolUseId },
    worktree: worktree && loggedWorktree(worktree),
  };
}

/** @throws {GauntletError} `invalid_request` for a folder in which the parent could not work. */
function checkWorktree(context: SessionCore['context'], worktree: ChildOptions['worktree']): void {
  const path = worktree?.path;
  if (path !== undefined && realFolder(path) === path && isInWorkingDirectories(context, path)) return;
  const message = `Cannot open a child session in ${JSON.stringify(path)}: name the real path of a folder inside the working directories`;
  throw new GauntletError('invalid_request', message);
}

/** Select the parent's tools that all lists name; tools hidden from the parent are left out. */
function commonTools({ tools, sessionCount }: ToolPool, lists: readonly (readonly string[])[]): readonly string[] {
  return tools
    .slice(0, tools.length - sessionCount)
    .filter((tool) => lists.every((list) => ruleKeys(tool).some((name) => list.includes(name))))
    .map(({ name }) => name);
}

/**
 * Make the function that gives a task its children.
 *
 * @param call The call that starts the task.
 */
export function taskChildren(core: SessionCore, call: Call): NonNullable<TaskCall['childrenOf']> {
  return ({ signal, stoppedBy }) => {
    let isOver = false;
    const node: OpeningCall['steps']['node'] = {
      get abortedBy(): RunControl['node']['abortedBy'] {
        const stop = stoppedBy();
        if (!stop) return undefined;
        const message = stop.note ?? 'Cancelled: the task was stopped';
        return { code: stop.status === 'interrupted' ? 'interrupted' : 'cancelled', message };
      },
    };
    const children = new ChildSessions(core, { call, steps: { signal, node }, isOver: () => isOver });
    return {
      open: (options) => children.open(options),
      end: () => {
        isOver = true;
        return children.end();
      },
    };
  };
}

/** Before the child is there: one that a crash cuts short is deleted with its parent all the same. */
function keepChildId(core: SessionCore, childId: string): Promise<void> {
  const { log } = core.services;
  const ids = (core.childIds ??= [...childIdsOf(log, core.id)]);
  const part = Math.floor((ids.push(childId) - 1) / IDS_IN_FACT);
  return log.save(core.id, { facts: [[factOf(part), ids.slice(part * IDS_IN_FACT)]] });
}

function exhausted(bound: string): GauntletError {
  return new GauntletError('resource_exhausted', `Cannot open a child session: ${bound}`);
}
