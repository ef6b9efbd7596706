/**
 * The audit trail: one line for each call that ended, each answer to a question, and each change of permissions.
 *
 * Derived from the frames that sessions log anyway. A line states who, when, which tool, why it was allowed and the
 * size of input and result, never their content.
 */
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { ContextFrame, NewFrame, PermissionRequestFrame, ResultFrame } from '../wire/frames.ts';
import type { RuleSet } from '../wire/permission-context.ts';
import type { AuditFile } from './audit-file.ts';
import type { LogObserver } from './observed-log.ts';

/** Sessions whose calls under way are remembered for their lines. */
const MAX_SESSIONS = 4_096;

/** Rules of one change that are named; more are counted. */
const MAX_RULES = 100;

/** Dependencies of the trail. */
export interface AuditTrailParts {
  readonly file: AuditFile;
  /** Sessions whose calls under way are remembered for their lines. */
  readonly maxSessions?: number;
  /** Principal of a session that began before this process did; `undefined` if unknown. */
  principalOf(sessionId: string): string | undefined;
}

/** State that a session's lines need from its earlier frames. */
interface SessionMemory {
  /** Principal and session as JSON members, the same in each line. */
  readonly owner: string;
  /** Last version seen of the session's permission context. */
  version: number;
  /** Calls in progress, by id. */
  readonly calls: Map<string, { readonly inputChars: number; answeredBy?: string }>;
}

/** Members of a line before it is serialised; those that are `undefined` are left out. */
type AuditEvent = Readonly<Record<string, unknown>> & { readonly event: string };

/** Turns logged frames into lines of the audit trail. */
export class AuditTrail implements LogObserver {
  readonly #parts: AuditTrailParts;
  readonly #sessions = new Map<string, SessionMemory>();
  readonly #now = isoClock();

  constructor(parts: AuditTrailParts) {
    this.#parts = parts;
  }

  /** Record the frames of one committed append. */
  recordFrames(sessionId: string, frames: readonly NewFrame[]): void {
    const memory = this.#memoryOf(sessionId, frames[0]);
    for (const frame of frames) {
      const event = eventOf(frame, memory);
      if (event) this.#write(memory.owner, event);
    }
  }

  /** Record that a principal removed a session. */
  recordRemoval(sessionId: string, principal: string | undefined): void {
    this.#sessions.delete(sessionId);
    this.#write(ownerText(principal, sessionId), { event: 'session_removed' });
  }

  /** Record a request with an invalid credential. @param address Address of the client. */
  recordBadCredential(address: string): void {
    this.#write('', { event: 'bad_credential', address });
  }

  /** Write the queued lines and close the file. */
  close(): void {
    this.#parts.file.close();
  }

  /** Time, principal and session are prefixed as text, since many lines share them. */
  #write(who: string, event: AuditEvent): void {
    this.#parts.file.write(`{"ts":"${this.#now()}",${who}${JSON.stringify(event).slice(1)}`);
  }

  #memoryOf(sessionId: string, first: NewFrame | undefined): SessionMemory {
    const known = this.#sessions.get(sessionId);
    if (known) return known;
    const principal = first?.type === 'opened' ? first.principal : this.#parts.principalOf(sessionId);
    const memory: SessionMemory = { owner: ownerText(principal, sessionId), version: 1, calls: new Map() };
    // Forgetting a session only costs its running calls `input_chars` and `answered_by`.
    const { maxSessions = MAX_SESSIONS } = this.#parts;
    const oldest = this.#sessions.size >= maxSessions ? this.#sessions.keys().next() : undefined;
    if (oldest?.value !== undefined) this.#sessions.delete(oldest.value);
    this.#sessions.set(sessionId, memory);
    return memory;
  }
}

function eventOf(frame: NewFrame, memory: SessionMemory): AuditEvent | undefined {
  switch (frame.type) {
    case 'opened':
      if (frame.reopened) return undefined;
      return {
        event: 'session_created',
        cwd: frame.cwd,
        mode: frame.mode,
        rules: rulesByBehavior(frame.rules, MAX_RULES),
        parent: frame.parent,
      };
    case 'tool_use':
      memory.calls.set(frame.tool_use.id, { inputChars: sizeOf(frame.tool_use.input) });
      return undefined;
    case 'permission_request':
      return pendingApprovalEvent(frame);
    case 'permission_resolved': {
      // The child session that asked logs a line of its own.
      if (frame.session_id !== undefined) return undefined;
      const { request_id, tool_use_id, behavior, by } = frame;
      const call = memory.calls.get(tool_use_id);
      if (call) call.answeredBy = by;
      return { event: 'answer', request_id, tool_use_id, behavior, by };
    }
    case 'context':
      return contextEvent(frame, memory);
    case 'undo': {
      const { by, to_seq, tool_use_id, files, left } = frame;
      return { event: 'undo', by, to_seq, tool_use_id, files: files.length, left: left.length };
    }
    case 'result':
      return callEvent(frame, memory);
    default:
      return undefined;
  }
}

function callEvent(frame: ResultFrame, { calls }: SessionMemory): AuditEvent {
  const { turn_id, tool_use_id, parent_tool_use_id, call, decision } = frame;
  const running = calls.get(tool_use_id);
  calls.delete(tool_use_id);
  return {
    event: 'call',
    turn_id,
    tool_use_id,
    parent_tool_use_id,
    tool: call.name,
    decision,
    answered_by: running?.answeredBy,
    status: call.status,
    error_code: call.error_code,
    duration_ms: call.duration_ms,
    input_chars: running?.inputChars,
    result_chars: call.result_chars,
  };
}

/** Describe an approval that needs a second one, by another principal. */
function pendingApprovalEvent({
  request_id,
  tool_use_id,
  session_id,
  approvals,
}: PermissionRequestFrame): AuditEvent | undefined {
  const by = approvals?.by.at(-1);
  return by === undefined || session_id !== undefined
    ? undefined
    : { event: 'answer', request_id, tool_use_id, behavior: 'allow', by, pending: true };
}

/** A context frame with a known version changes only the working directory. */
function contextEvent(
  { version, permission_context: context }: ContextFrame,
  memory: SessionMemory,
): AuditEvent | undefined {
  if (version === memory.version) return undefined;
  memory.version = version;
  const { mode, rules, additional_directories } = context;
  return {
    event: 'permissions',
    version,
    mode,
    rules: rulesByBehavior(rules.session, MAX_RULES),
    additional_directories,
  };
}

/** Return the rules by behavior. A list with more than `most` rules is reduced to its length. */
function rulesByBehavior(rules: RuleSet | undefined, maxRules: number): unknown {
  const lists = Object.entries<readonly string[]>({ ...rules }).filter(([, list]) => list.length > 0);
  return lists.length === 0
    ? undefined
    : Object.fromEntries(lists.map(([behavior, list]) => [behavior, list.length > maxRules ? list.length : list]));
}

/** Characters of all strings in a value, member names included. */
function sizeOf(value: JsonValue): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return String(value).length;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + sizeOf(item as JsonValue), 0);
  let size = 0;
  for (const name in value) size += name.length + sizeOf((value as JsonObject)[name] ?? null);
  return size;
}

function ownerText(principal: string | undefined, sessionId: string): string {
  return `${JSON.stringify({ principal, session_id: sessionId }).slice(1, -1)},`;
}

/** Create a clock that formats the time as ISO 8601 and reuses the prefix within a second. */
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
