/**
 * Prepares messages of a server for the SDK, which checks a message as a whole: one malformed entry would take its list
 * with it, and each of a million faults costs a kilobyte and the time of all others.
 */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';

/** Values below one member of a result or of parameters. */
const MAX_VALUES = 10_000;

/** Nesting of a message; functions that call themselves, such as `JSON.stringify`, fail far below. */
const MAX_LEVELS = 1_000;

/** Members that hold anything, which the SDK does not look into. */
const UNCHECKED: ReadonlySet<string> = new Set(['structuredContent', '_meta', 'data', 'inputSchema', 'outputSchema']);

/** Lists whose entries are checked one by one where they are used. */
const LISTS: ReadonlySet<string> = new Set(['tools', 'prompts', 'resources', 'resourceTemplates']);

/** Member of a result in which its list gets past the SDK. */
const SET_ASIDE = 'gauntlet/entries';

type Members = Readonly<Record<string, unknown>>;

/** Prepare each message that a transport receives. */
export function prepareMessages(transport: Transport): void {
  let { onmessage } = transport;
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
  const { id, result, params, error } = message as Members;
  if (isMembers(params) && 'method' in message && faultOf(params) !== undefined)
    // Without its parameters a request is answered by the error for malformed ones.
    return { ...message, params: {} } as JSONRPCMessage;
  if (isMembers(error) && isDeep(error['data'], MAX_LEVELS)) {
    const { data: _dropped, ...rest } = error;
    return { ...message, error: rest } as JSONRPCMessage;
  }
  if (!isMembers(result) || !('id' in message)) return message;
  const fault = faultOf(result);
  if (fault === undefined) return { ...message, result: withListAside(result) } as JSONRPCMessage;
  return { jsonrpc: '2.0', id: id as string, error: { code: -32_603, message: `Its answer is refused: ${fault}` } };
}

function withListAside(result: Members): Members {
  const lists = Object.entries(result).flatMap(([key, value]) =>
    LISTS.has(key) && Array.isArray(value) ? [[key, value.filter((entry) => !isDeep(entry, MAX_LEVELS))] as const] : [],
  );
  if (lists.length === 0) return result;
  const empty = Object.fromEntries(lists.map(([key]) => [key, []]));
  return { ...result, ...empty, [SET_ASIDE]: Object.fromEntries(lists) };
}

/** Find what is wrong with the first member that the SDK, or whoever passes it on, could not bear. */
function faultOf(members: Members): string | undefined {
  for (const [key, value] of Object.entries(members)) {
    if (LISTS.has(key)) continue;
    if (!UNCHECKED.has(key) && isCrowded(value)) return `"${key}" has more than ${MAX_VALUES} values`;
    if (isDeep(value, MAX_LEVELS)) return `"${key}" is nested deeper than ${MAX_LEVELS} levels`;
  }
  return undefined;
}

function isDeep(value: unknown, levelsLeft: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levelsLeft === 0 || Object.values(value).some((inner) => isDeep(inner, levelsLeft - 1));
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
