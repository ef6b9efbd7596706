/** Tells a session of changes of the resources that it has read. */
import type { ToolUseContext } from '../tool/tool.ts';
import type { ResourceSubscriber } from './subscriptions.ts';
import { visibleLine } from './visible-text.ts';

/** Changes of one resource closer together than this are told once. */
const PAUSE_MS = 10_000;

const URI_CHARS = 500;

/** Id of a session as a subscriber. */
export function readerId(sessionId: string): string {
  return `session ${sessionId}`;
}

/** Create the subscriber for a session that has read a resource just now. */
export function resourceReader(
  server: string,
  sessionId: string,
  notify: ToolUseContext['notify'],
): ResourceSubscriber {
  let toldMs = -Infinity;
  return {
    id: readerId(sessionId),
    onUpdated(uri) {
      const nowMs = performance.now();
      if (nowMs - toldMs < PAUSE_MS) return;
      toldMs = nowMs;
      const name = visibleLine(uri, URI_CHARS);
      notify(
        'info',
        'mcp_resource_updated',
        `MCP server "${server}": the resource ${name} has changed since it was read`,
      );
    },
  };
}
