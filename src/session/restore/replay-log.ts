/**
 * Replays a session's log: who opened it, its permissions, its calls and turns and their progress.
 */
import type { ToolUseBlock } from '../../wire/blocks.ts';
import type { CallSummary, ContextFrame, Frame, OpenedFrame, PermissionRequestFrame, Seq } from '../../wire/frames.ts';
import type { TaskView } from '../../tool/task.ts';
import type { Settled } from '../../permissions/questions.ts';
import { taskAfter } from '../../tasks/task-frames.ts';
import type { LoggedContext } from '../context-frame.ts';

/** One call in the log. */
export interface LoggedCall {
  readonly block: ToolUseBlock;
  readonly turnId: string;
  readonly index: number;
  /** Call that made this one, for an inner call. */
  readonly parentId?: string;
  readonly providerId?: string;
  readonly acceptedSeq: Seq;
  /** True if it passed its gate: its side effects may have happened. */
  hasStarted?: boolean;
  /** True if it reached its gate. */
  isExecuting?: boolean;
  /** Open question that it waits for. */
  question?: PermissionRequestFrame;
  resultSeq?: Seq;
  summary?: CallSummary;
}

/** One turn in the log. */
export interface LoggedTurn {
  readonly id: string;
  readonly calls: LoggedCall[];
  /** Calls made by those calls, at any depth. */
  readonly inner: LoggedCall[];
  /** True if more of its blocks may come. */
  isOpen: boolean;
  /** Characters of its results so far. */
  spentChars: number;
  endSeq?: Seq;
}

/** State of a session after replaying its log. */
export interface LoggedHistory {
  readonly opened: OpenedFrame;
  readonly head: Seq;
  /** Last context frame, if the context ever changed. */
  readonly context?: LoggedContext;
  readonly toolState?: ContextFrame['tool_state'];
  /** In order of acceptance. Calls, turns and questions that the snapshot includes are left out. */
  readonly calls: ReadonlyMap<string, LoggedCall>;
  readonly turns: ReadonlyMap<string, LoggedTurn>;
  /** Open questions of child sessions. */
  readonly climbed: readonly PermissionRequestFrame[];
  readonly settled: ReadonlyMap<string, Settled>;
  /** Background tasks by start, earliest first, including those of the snapshot. */
  readonly tasks: readonly TaskView[];
  /** Last frame that the snapshot includes. */
  readonly savedSeq?: Seq;
}

/** Frame types that do not affect a session's state; they are not even parsed. */
const PASSED_OVER = new Set<Frame['type']>([
  'progress',
  'input_partial',
  'task_output',
  'notice',
  'tools_changed',
  'change',
  'undo',
]);

/** True if `LogReplay` must process frames of this type. */
export function mattersForReplay(type: Frame['type']): boolean {
  return !PASSED_OVER.has(type);
}

/** State in a snapshot: a session at a frame, without what was settled by then. */
export type SavedState = Pick<LoggedHistory, 'opened' | 'context' | 'toolState'> &
  /** Absent if the session had none, and in snapshots of earlier versions. */
  Partial<Pick<LoggedHistory, 'tasks'>>;

/** Folds a log frame by frame. */
export class LogReplay {
  readonly #savedSeq: Seq | undefined;
  #opened: OpenedFrame | undefined;
  #context: LoggedHistory['context'];
  #toolState: ContextFrame['tool_state'];
  readonly #calls = new Map<string, LoggedCall>();
  readonly #turns = new Map<string, LoggedTurn>();
  readonly #questions = new Map<string, LoggedCall>();
  readonly #climbed = new Map<string, PermissionRequestFrame>();
  readonly #settled = new Map<string, Settled>();
  readonly #tasks = new Map<string, TaskView>();

  /** @param saved Snapshot to continue from; the next frame is the one after it. */
  constructor(saved?: { readonly seq: Seq; readonly savedState: SavedState }) {
    this.#savedSeq = saved?.seq;
    this.#opened = saved?.savedState.opened;
    this.#context = saved?.savedState.context;
    this.#toolState = saved?.savedState.toolState;
    for (const task of saved?.savedState.tasks ?? []) this.#tasks.set(task.id, task);
  }

  /** Process the next frame. */
  push(frame: Frame): void {
    switch (frame.type) {
      case 'opened':
        this.#opened ??= withoutNumber(frame);
        return;
      case 'context':
        this.#context = frame;
        this.#toolState = frame.tool_state ?? this.#toolState;
        return;
      case 'turn_end':
        this.#turn(frame.turn_id).endSeq = frame.seq;
        return;
      case 'turn_closed':
        this.#turn(frame.turn_id).isOpen = false;
        return;
      case 'permission_resolved':
        this.#settled.set(frame.request_id, { behavior: frame.behavior, by: frame.by });
        delete this.#questions.get(frame.request_id)?.question;
        this.#climbed.delete(frame.request_id);
        return;
      case 'tool_use':
        if (frame.parent_tool_use_id === undefined) this.#turn(frame.turn_id).isOpen = frame.open === true;
        this.#accept({
          block: frame.tool_use,
          turnId: frame.turn_id,
          index: frame.index,
          parentId: frame.parent_tool_use_id,
          providerId: frame.provider_id,
          acceptedSeq: frame.seq,
        });
        return;
      case 'task_started':
      case 'task_ended':
        this.#moveTask(frame);
        return;
      default:
        this.#moveOn(frame);
    }
  }

  /** Return the state. @returns `undefined` if the log has no first frame. */
  history(head: Seq): LoggedHistory | undefined {
    if (!this.#opened) return undefined;
    return {
      opened: this.#opened,
      head,
      ...(this.#context ? { context: this.#context } : {}),
      ...(this.#toolState ? { toolState: this.#toolState } : {}),
      calls: this.#calls,
      turns: this.#turns,
      climbed: [...this.#climbed.values()],
      settled: this.#settled,
      tasks: [...this.#tasks.values()],
      ...(this.#savedSeq === undefined ? {} : { savedSeq: this.#savedSeq }),
    };
  }

  #moveOn(frame: Frame): void {
    if (frame.type === 'permission_request' && frame.session_id !== undefined) {
      this.#climbed.set(frame.request_id, frame);
      return;
    }
    const call = 'tool_use_id' in frame ? this.#calls.get(String(frame.tool_use_id)) : undefined;
    if (!call) return;
    if (frame.type === 'state') call.isExecuting = true;
    if (frame.type === 'started') call.hasStarted = true;
    if (frame.type === 'permission_request') {
      // A question is stored without `seq` and `ts`, because it is logged again with new ones.
      const { seq: _seq, ts: _ts, ...question } = frame;
      call.question = question;
      this.#questions.set(frame.request_id, call);
    }
    if (frame.type === 'result') {
      call.resultSeq = frame.seq;
      call.summary = frame.call;
      delete call.question;
      if (call.parentId === undefined) this.#turn(call.turnId).spentChars += frame.call.result_chars;
    }
  }

  #moveTask(frame: Parameters<typeof taskAfter>[1]): void {
    const task = taskAfter(this.#tasks.get(frame.task_id), frame);
    if (task) this.#tasks.set(task.id, task);
  }

  #accept(call: LoggedCall): void {
    this.#calls.set(call.block.id, call);
    const turn = this.#turn(call.turnId);
    const { calls, inner } = turn;
    if (call.parentId === undefined) {
      calls.push(call);
      // A turn that ended with its server was continued.
      turn.endSeq = undefined;
      return;
    }
    inner.push(call);
    // The frame `started` of a call that only reads is not awaited, so it may be missing.
    const parent = this.#calls.get(call.parentId);
    if (parent) parent.hasStarted = true;
  }

  #turn(id: string): LoggedTurn {
    const known = this.#turns.get(id);
    if (known) return known;
    const turn: LoggedTurn = { id, calls: [], inner: [], isOpen: false, spentChars: 0 };
    this.#turns.set(id, turn);
    return turn;
  }
}

/** Convert a logged frame to the form in which it was appended, without number and time. */
function withoutNumber(frame: OpenedFrame & Pick<Frame, 'seq' | 'ts'>): OpenedFrame {
  const members = Object.entries(frame).filter(([member]) => member !== 'seq' && member !== 'ts');
  return Object.fromEntries(members) as unknown as OpenedFrame;
}
