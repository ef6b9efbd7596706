/**
 * Prepares messages of a server for the SDK, which checks a message as a whole: one malformed entry would take its list
 * with it, and each of a million faults costs a kilobyte and the time of all others.
 */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';

/** Values below one member of a result or of parameters. */
const MAX_VALUES = 10_000;

/** Members that hold anything, which the SDK does not look into. */
const UNCHECKED: ReadonlySet<string> = new Set(['structuredContent', '_meta', 'data', 'inputSchema', 'outputSchema']);

/** Lists whose entries are checked one by one where they are used. */
const LISTS: ReadonlySet<string> = new Set(['tools', 'prompts', 'resources', 'resourceTemplates']);

/** Member of a result in which its list gets past the SDK. */
const SET_ASIDE = 'gauntlet/entries';

type Members = Readonly<Record<string, unknown>>;

/** Prepare each message that a transport receives. */
export function prepareMessages(transport: Transport): void {
  let onmessage: Transport['onmessage'];
  Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    get: () => onmessage,
    set: (handle: Transport['onmessage']) => {
      onmessage = handle && ((message, extra) => handle(prepared(message), extra));
    },
  });
}

/** Put the list that was set aside back into a result. */
export function restoreList<Result extends Members>(result: Result): Result {
  const { [SET_ASIDE]: aside, ...rest } = result;
  return isMembers(aside) ? ({ ...rest, ...aside } as unknown as Result) : result;
}

function prepared(message: JSONRPCMessage): JSONRPCMessage {
  if (!isMembers(message)) return message;
  const { result, params } = message as { readonly result?: unknown; readonly params?: unknown };
  if (isMembers(params) && 'method' in message && crowdedMember(params) !== undefined)
    // Without its parameters a request is answered by the error for malformed ones.
    return { ...message, params: {} } as JSONRPCMessage;
  if (!isMembers(result) || !('id' in message)) return message;
  const crowded = crowdedMember(result);
  if (crowded === undefined) return { ...message, result: withListAside(result) } as JSONRPCMessage;
  const error = { code: -32_603, message: `"${crowded}" of its answer has more than ${MAX_VALUES} values` };
  return { jsonrpc: '2.0', id: message.id as string, error };
}

function withListAside(result: Members): Members {
  const lists = Object.entries(result).filter(([key, value]) => LISTS.has(key) && Array.isArray(value));
  if (lists.length === 0) return result;
  const empty = Object.fromEntries(lists.map(([key]) => [key, []]));
  return { ...result, ...empty, [SET_ASIDE]: Object.fromEntries(lists) };
}

/** Find the first member with too many values. */
function crowdedMember(members: Members): string | undefined {
  return Object.keys(members).find((key) => !LISTS.has(key) && !UNCHECKED.has(key) && isCrowded(members[key]));
}

function isCrowded(value: unknown): boolean {
  const waiting = [value];
  for (let room = MAX_VALUES; waiting.length > 0;) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) continue;
    const inner: readonly unknown[] = Array.isArray(next)
      ? next
      : Object.entries(next).flatMap(([key, member]) => (UNCHECKED.has(key) ? [] : [member]));
    room -= inner.length;
    if (room < 0) return true;
    waiting.push(...inner);
  }
  return false;
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
