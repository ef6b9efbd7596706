/**
 * The audit trail: one line for each call that ended, each answer, each change of what a session may do.
 *
 * A reader of the frames that sessions log anyway. A line says who, when, which tool, why it was let through and how
 * large input and result were; never what they were.
 */
import type { Limits } from '../../config/limits.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { ContextFrame, NewFrame, PermissionRequestFrame, ResultFrame, Seq } from '../wire/frames.ts';
import type { RuleSet } from '../wire/permission-context.ts';
import type { AuditFile } from './audit-file.ts';
import type { FrameLog } from './frame-log.ts';

/** What the trail needs. */
export interface AuditTrailParts {
  readonly file: AuditFile;
  readonly limits: Pick<Limits, 'auditSessions' | 'auditRules'>;
  /** Whose a session is that began before this process did. */
  principalOf(sessionId: string): string | undefined;
}

/** What the lines of a session need of its earlier frames. */
interface SessionMemory {
  /** Principal and session, as they stand in each line. */
  readonly who: string;
  /** Of its permission context, as last told. */
  version: number;
  /** Calls under way. */
  readonly calls: Map<string, { readonly inputChars: number; answeredBy?: string }>;
}

/** A line before it is one; members that are undefined are left out. */
type AuditEvent = Readonly<Record<string, unknown>> & { readonly event: string };

/** Writes the trail. */
export class AuditTrail {
  readonly #parts: AuditTrailParts;
  readonly #sessions = new Map<string, SessionMemory>();
  readonly #now = isoClock();

  constructor(parts: AuditTrailParts) {
    this.#parts = parts;
  }

  /** Frames of a session have landed. */
  landed(sessionId: string, frames: readonly NewFrame[]): void {
    const memory = this.#memoryOf(sessionId, frames[0]);
    for (const frame of frames) {
      const event = eventOf(frame, memory, this.#parts.limits.auditRules);
      if (event) this.#write(memory.who, event);
    }
  }

  /** A session was removed by its principal. */
  removed(sessionId: string, principal: string | undefined): void {
    this.#sessions.delete(sessionId);
    this.#write(whoseText(principal, sessionId), { event: 'session_removed' });
  }

  /** Somebody came with a bad credential. @param address Where from. */
  badCredential(address: string): void {
    this.#write('', { event: 'bad_credential', address });
  }

  /** Write what waits. */
  close(): void {
    this.#parts.file.close();
  }

  /** The time and whose it is are put before the rest as text: they are the same for many lines. */
  #write(who: string, event: AuditEvent): void {
    this.#parts.file.write(`{"ts":"${this.#now()}",${who}${JSON.stringify(event).slice(1)}`);
  }

  #memoryOf(sessionId: string, first: NewFrame | undefined): SessionMemory {
    const known = this.#sessions.get(sessionId);
    if (known) return known;
    const principal = first?.type === 'opened' ? first.principal : this.#parts.principalOf(sessionId);
    const memory: SessionMemory = { who: whoseText(principal, sessionId), version: 1, calls: new Map() };
    // What is forgotten costs a line its input's size, no more.
    const oldest = this.#sessions.size >= this.#parts.limits.auditSessions ? this.#sessions.keys().next() : undefined;
    if (oldest?.value !== undefined) this.#sessions.delete(oldest.value);
    this.#sessions.set(sessionId, memory);
    return memory;
  }
}

function eventOf(frame: NewFrame, memory: SessionMemory, mostRules: number): AuditEvent | undefined {
  switch (frame.type) {
    case 'opened':
      if (frame.reopened) return undefined;
      return {
        event: 'session_created',
        cwd: frame.cwd,
        mode: frame.mode,
        rules: named(frame.rules, mostRules),
        parent: frame.parent,
      };
    case 'tool_use':
      memory.calls.set(frame.tool_use.id, { inputChars: sizeOf(frame.tool_use.input) });
      return undefined;
    case 'permission_request':
      return joined(frame);
    case 'permission_resolved': {
      // The child session that asked has a line of its own.
      if (frame.session_id !== undefined) return undefined;
      const { request_id, tool_use_id, behavior, by } = frame;
      const call = memory.calls.get(tool_use_id);
      if (call) call.answeredBy = by;
      return { event: 'answer', request_id, tool_use_id, behavior, by };
    }
    case 'context':
      return changed(frame, memory, mostRules);
    case 'undo': {
      const { by, to_seq, tool_use_id, files, left } = frame;
      return { event: 'undo', by, to_seq, tool_use_id, files: files.length, left: left.length };
    }
    case 'result':
      return ended(frame, memory);
    default:
      return undefined;
  }
}

function ended(frame: ResultFrame, { calls }: SessionMemory): AuditEvent {
  const { turn_id, tool_use_id, parent_tool_use_id, call, decision } = frame;
  const begun = calls.get(tool_use_id);
  calls.delete(tool_use_id);
  return {
    event: 'call',
    turn_id,
    tool_use_id,
    parent_tool_use_id,
    tool: call.name,
    decision,
    answered_by: begun?.answeredBy,
    status: call.status,
    error_code: call.error_code,
    duration_ms: call.duration_ms,
    input_chars: begun?.inputChars,
    result_chars: call.result_chars,
  };
}

/** A yes that another has yet to join. */
function joined({ request_id, tool_use_id, session_id, approvals }: PermissionRequestFrame): AuditEvent | undefined {
  const by = approvals?.by.at(-1);
  return by === undefined || session_id !== undefined
    ? undefined
    : { event: 'answer', request_id, tool_use_id, behavior: 'allow', by, pending: true };
}

/** A context frame may also say no more than that the working directory is another. */
function changed(
  { version, permission_context: context }: ContextFrame,
  memory: SessionMemory,
  mostRules: number,
): AuditEvent | undefined {
  if (version === memory.version) return undefined;
  memory.version = version;
  const { mode, rules, additional_directories } = context;
  return { event: 'permissions', version, mode, rules: named(rules.session, mostRules), additional_directories };
}

/** Rules as they stand; of many, how many. */
function named(rules: RuleSet | undefined, most: number): unknown {
  const lists = Object.entries<readonly string[]>({ ...rules }).filter(([, list]) => list.length > 0);
  return lists.length === 0
    ? undefined
    : Object.fromEntries(lists.map(([behavior, list]) => [behavior, list.length > most ? list.length : list]));
}

/** Characters of all texts in a value, the names of its members included. */
function sizeOf(value: JsonValue): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return String(value).length;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + sizeOf(item as JsonValue), 0);
  let size = 0;
  for (const name in value) size += name.length + sizeOf((value as JsonObject)[name] ?? null);
  return size;
}

function whoseText(principal: string | undefined, sessionId: string): string {
  return `${JSON.stringify({ principal, session_id: sessionId }).slice(1, -1)},`;
}

/** The time as ISO 8601; what is the same for a whole second is made once a second. */
function isoClock(): () => string {
  let second = -1;
  let prefix = '';
  return () => {
    const nowMs = Date.now();
    const nowSecond = Math.floor(nowMs / 1_000);
    if (nowSecond !== second) {
      second = nowSecond;
      prefix = new Date(nowMs).toISOString().slice(0, -4);
    }
    return `${prefix}${String(nowMs % 1_000).padStart(3, '0')}Z`;
  };
}

/** The same log, with the trail as its reader; they close together. */
export function auditedLog(log: FrameLog, trail: Pick<AuditTrail, 'landed' | 'removed' | 'close'>): FrameLog {
  return {
    epoch: log.epoch,
    append(sessionId: string, after: Seq, frames: readonly NewFrame[]) {
      const landing = log.append(sessionId, after, frames);
      landing.then(
        () => trail.landed(sessionId, frames),
        () => {
          // Whoever appended is told; what did not land did not happen.
        },
      );
      return landing;
    },
    async remove(sessionId) {
      const principal = log.find(sessionId)?.principal;
      await log.remove(sessionId);
      trail.removed(sessionId, principal);
    },
    read: (sessionId, after, options) => log.read(sessionId, after, options),
    bounds: (sessionId) => log.bounds(sessionId),
    list: (principal, page) => log.list(principal, page),
    find: (sessionId) => log.find(sessionId),
    save: (sessionId, notes) => log.save(sessionId, notes),
    fact: (sessionId, key) => log.fact(sessionId, key),
    weigh: (page) => log.weigh(page),
    trim: (sessionId, goal) => log.trim(sessionId, goal),
    usedBytes: () => log.usedBytes(),
    async close() {
      await log.close();
      trail.close();
    },
  };
}
