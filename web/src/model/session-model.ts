/**
 * A session as its frames tell it: turns, calls, questions and tasks. Each frame takes constant time, and a frame that
 * was seen before changes nothing, so that a resumed connection may repeat some.
 */
import { Call, type Resolution, type Row, type Thread } from './call.ts';
import { Tail } from './tail.ts';
import type { Display, Frame, FrameOf, OpenQuestion, PermissionContext } from './wire.ts';

/** A background task. */
export interface Task {
  readonly id: string;
  readonly callId: string;
  readonly kind: string;
  readonly description: string;
  readonly startedMs: number;
  readonly output: Tail;
  state: 'running' | 'completed' | 'failed' | 'killed' | 'interrupted';
  endedMs?: number;
  exitCode?: number;
  note?: string;
}

/** Turn of a session. */
export interface Turn {
  readonly id: string;
  readonly number: number;
  readonly calls: Call[];
}

/** Calls of a group that stand in one row: a row is drawn whole, however little of it is in view. */
const MAX_ROW_CALLS = 20;
/** Sessions of agents below one another that are drawn. */
const MAX_DEPTH = 4;
/** Frames of agents that one call may bring; what is beyond stands in the agent's own session. */
const MAX_AGENTS = 64;

/** State of one session. */
export class SessionModel implements Thread {
  readonly rows: Row[] = [];
  readonly calls = new Map<string, Call>();
  readonly turns = new Map<string, Turn>();
  readonly questions = new Map<string, OpenQuestion>();
  readonly tasks = new Map<string, Task>();
  opened: FrameOf<'opened'> | undefined;
  context: PermissionContext | undefined;
  cwd: string | undefined;
  /** The last frame that was applied. */
  head = 0;
  /** Frames that the server no longer has. */
  gaps: { readonly from: number; readonly to: number; readonly reason: string }[] = [];
  /** Grows with each frame. */
  version = 0;
  /** Grows when a file may have changed. */
  changes = 0;
  readonly #depth: number;
  readonly #openTurns = new Set<Turn>();

  constructor(depth = 0) {
    this.#depth = depth;
  }

  /** Calls of the session itself that have no result. */
  get runningCalls(): Call[] {
    return [...this.#openTurns].flatMap(({ calls }) => calls.filter((call) => !call.isDone));
  }

  /** Take a frame in. @returns Whether it was new. */
  apply(frame: Frame): boolean {
    if (frame.seq <= this.head) return false;
    this.head = frame.seq;
    this.version += 1;
    this.#take(frame);
    return true;
  }

  /** Note frames that will not come. Progress that was left out for a slow reader is none to speak of. */
  addGap(gap: { from: number; to: number; reason: string }): void {
    if (gap.reason !== 'coalesced') this.gaps = [...this.gaps, gap];
    this.version += 1;
  }

  #take(frame: Frame): void {
    switch (frame.type) {
      case 'opened':
        this.opened ??= frame;
        this.cwd ??= frame.cwd;
        return;
      case 'context':
        this.context = frame.permission_context;
        this.cwd = frame.cwd;
        return;
      case 'turn_end':
        return this.#endTurn(frame.turn_id);
      case 'notice':
        return this.#addRow({
          ...{ kind: 'notice', key: `f${frame.seq}`, level: frame.level },
          ...{ text: frame.message, ts: frame.ts },
        });
      case 'undo':
        this.changes += 1;
        return this.#addRow({ kind: 'undo', key: `f${frame.seq}`, frame });
      case 'change':
        this.changes += 1;
        return;
      case 'task_started':
      case 'task_output':
      case 'task_ended':
        return this.#takeTask(frame);
      case 'permission_request':
      case 'permission_resolved':
        return this.#takeQuestion(frame);
      case 'tool_use':
      case 'input_partial':
        return this.#takeBlock(frame);
      case 'state':
      case 'started':
      case 'progress':
      case 'result':
        return this.#takeCall(frame);
      default:
    }
  }

  #takeBlock(frame: FrameOf<'tool_use'> | FrameOf<'input_partial'>): void {
    const isPartial = frame.type === 'input_partial';
    const id = isPartial ? frame.tool_use_id : frame.tool_use.id;
    const parentId = isPartial ? undefined : frame.parent_tool_use_id;
    const call = this.calls.get(id) ?? this.#addCall(frame, id, isPartial ? frame.name : frame.tool_use.name, parentId);
    if (isPartial && call.phase !== 'streaming' && call.display !== undefined) return;
    call.phase = isPartial ? 'streaming' : 'queued';
    call.input = isPartial ? frame.partial_input : frame.tool_use.input;
    call.display = frame.display;
    call.activity = isPartial ? undefined : frame.activity;
    call.touch();
  }

  #takeCall(frame: FrameOf<'state'> | FrameOf<'started'> | FrameOf<'progress'> | FrameOf<'result'>): void {
    const known = this.calls.get(frame.tool_use_id);
    const call =
      known ??
      (frame.type === 'result'
        ? this.#addCall(frame, frame.tool_use_id, frame.call.name, frame.parent_tool_use_id)
        : undefined);
    // Its block is in a part of the log that retention took.
    if (call === undefined) return;
    const nowMs = Date.parse(frame.ts);
    if (frame.type === 'progress') this.#takeProgress(call, frame);
    else if (frame.type === 'result') this.#takeResult(call, frame, nowMs);
    else if (frame.type === 'started') {
      call.times.startedMs ??= nowMs;
      call.phase = 'running';
    } else if (frame.state === 'executing') {
      call.times.gateMs ??= nowMs;
      call.phase = 'gate';
    } else {
      call.times.completedMs ??= nowMs;
      call.phase = 'finishing';
    }
    call.touch();
  }

  #takeResult(call: Call, frame: FrameOf<'result'>, nowMs: number): void {
    const { display, condensed, call: summary, decision } = frame;
    call.result = { display, summary, ...(condensed && { condensed }), ...(decision && { decision }) };
    call.times.completedMs ??= nowMs;
    call.times.endedMs = nowMs;
    call.phase = 'done';
    call.name = summary.name;
    // The result tells it all again, unless the call was cut off.
    if (display.blocks.length > 0 || summary.status === 'ok') call.output.clear();
    call.note = undefined;
    const open = call.asked.at(-1);
    if (open && open.toMs === undefined) open.toMs = nowMs;
  }

  #takeProgress(call: Call, { data, display, ts }: FrameOf<'progress'>): void {
    if (data.type === 'agent') return this.#takeAgentFrame(call, data);
    if (data.type === 'agent_text') {
      this.#agentOf(call, textField(data, 'session_id'))?.words.append(`${textField(data, 'text')}\n`);
      return;
    }
    if (data.type === 'status') call.elapsedMs = Date.parse(ts) - (call.times.startedMs ?? call.times.acceptedMs);
    const pieces = outputOf(display);
    if (pieces === undefined) call.note = display ?? call.note;
    else call.output.append(pieces);
  }

  #takeAgentFrame(call: Call, data: { readonly type: string }): void {
    const agent = this.#agentOf(call, textField(data, 'session_id'));
    const { frame } = data as { frame?: Frame & { is_cut?: boolean } };
    if (agent === undefined || frame === undefined) return;
    // The server sends only the type of a long frame, which says nothing that could be drawn.
    if (frame.is_cut !== true) agent.thread.apply(frame);
  }

  #agentOf(call: Call, sessionId: string) {
    const found = call.agents.find((agent) => agent.sessionId === sessionId);
    if (found || sessionId === '' || this.#depth >= MAX_DEPTH || call.agents.length >= MAX_AGENTS) return found;
    const agent = { sessionId, thread: new SessionModel(this.#depth + 1), words: new Tail() };
    call.agents.push(agent);
    return agent;
  }

  #takeQuestion(frame: FrameOf<'permission_request'> | FrameOf<'permission_resolved'>): void {
    const call = this.calls.get(frame.tool_use_id) ?? this.calls.get(frame.parent_tool_use_id ?? '');
    const nowMs = Date.parse(frame.ts);
    if (frame.type === 'permission_request') {
      this.questions.set(frame.request_id, frame);
      if (call === undefined) return;
      if (call.asked.at(-1)?.toMs !== undefined || call.asked.length === 0) call.asked.push({ fromMs: nowMs });
      call.requestId = frame.request_id;
      call.phase = 'asking';
    } else {
      this.questions.delete(frame.request_id);
      if (call === undefined) return;
      const open = call.asked.at(-1);
      if (open && open.toMs === undefined) open.toMs = nowMs;
      call.requestId = undefined;
      call.resolution = pick(frame);
      if (call.phase === 'asking') call.phase = call.times.startedMs === undefined ? 'gate' : 'running';
    }
    call.touch();
  }

  #takeTask(frame: FrameOf<'task_started'> | FrameOf<'task_output'> | FrameOf<'task_ended'>): void {
    if (frame.type === 'task_started') {
      const { task_id: id, tool_use_id: callId, kind, description } = frame;
      const startedMs = Date.parse(frame.ts);
      this.tasks.set(id, { id, callId, kind, description, startedMs, output: new Tail(), state: 'running' });
      const call = this.calls.get(callId);
      call?.taskIds.push(id);
      call?.touch();
      return;
    }
    const task = this.tasks.get(frame.task_id);
    if (task === undefined) return;
    if (frame.type === 'task_output') task.output.append(frame.text);
    else {
      task.state = frame.status;
      task.endedMs = Date.parse(frame.ts);
      task.exitCode = frame.exit_code;
      task.note = frame.note;
    }
    this.calls.get(task.callId)?.touch();
  }

  #addCall(
    frame: { readonly turn_id: string; readonly seq: number; readonly ts: string },
    id: string,
    name: string,
    parentId: string | undefined,
  ): Call {
    const parent = parentId === undefined ? undefined : this.calls.get(parentId);
    const facts = { id, name, turnId: frame.turn_id, seq: frame.seq, acceptedMs: Date.parse(frame.ts) };
    const call = new Call({ ...facts, ...(parent && { parent }) });
    this.calls.set(id, call);
    if (parent) {
      parent.inner.push(call);
      return call;
    }
    const turn = this.#turnOf(frame.turn_id, frame.ts);
    turn.calls.push(call);
    this.#openTurns.add(turn);
    const display = (frame as { display?: Display }).display;
    const group = display?.group?.key;
    const last = this.rows.at(-1);
    const isJoined = last?.kind === 'calls' && last.calls[0]?.turnId === call.turnId && group && last.group === group;
    if (isJoined && last.calls.length < MAX_ROW_CALLS) last.calls.push(call);
    else this.#addRow({ kind: 'calls', key: `c${id}`, calls: [call], ...(group && { group }) });
    return call;
  }

  #turnOf(id: string, ts: string): Turn {
    const found = this.turns.get(id);
    if (found) return found;
    const turn: Turn = { id, number: this.turns.size + 1, calls: [] };
    this.turns.set(id, turn);
    this.#addRow({ kind: 'turn', key: `t${id}`, turnId: id, number: turn.number, ts });
    return turn;
  }

  #endTurn(id: string): void {
    const turn = this.turns.get(id);
    if (turn) this.#openTurns.delete(turn);
  }

  #addRow(row: Row): void {
    this.rows.push(row);
  }
}

/** Text that progress adds to the output; `undefined`: it is a state, not output. */
function outputOf(display: Display | undefined): string | undefined {
  const blocks = display?.blocks ?? [];
  if (blocks.length === 0) return undefined;
  const texts = blocks.flatMap((block) => (block.kind === 'code' || block.kind === 'text' ? [block.text] : []));
  return texts.length === blocks.length ? texts.join('') : undefined;
}

function textField(data: object, name: string): string {
  const value = (data as Record<string, unknown>)[name];
  return typeof value === 'string' ? value : '';
}

function pick({ behavior, by, reason }: FrameOf<'permission_resolved'>): Resolution {
  return { behavior, by, reason };
}
