/**
 * Writes what is wrong with a server into the log, for people: in short lines, and few of them.
 */
import { createRateLimit } from '../base/pace.ts';
import type { McpServerOptions } from './environment.ts';
import { visibleLine } from './visible-text.ts';

/** Longest text of one notice, in characters. */
const NOTICE_CHARS = 2_000;

/** Notices of one server in `NOTICE_RATE_MS`; further ones are counted. */
const MAX_NOTICES_IN_TIME = 30;
const NOTICE_RATE_MS = 60_000;

/** Create the function that writes notices: few of a server that changes, or fails in a new way, all the time. */
export function boundedNotices(
  { name, onNotice }: Pick<McpServerOptions, 'name' | 'onNotice'>,
  mask: (text: string) => string,
): McpServerOptions['onNotice'] {
  const report: typeof onNotice = (level, code, text) =>
    onNotice(level, code, visibleLine(`MCP server "${name}": ${mask(text)}`, NOTICE_CHARS));
  const mayReport = createRateLimit(MAX_NOTICES_IN_TIME, NOTICE_RATE_MS);
  let leftOut = 0;
  return (level, code, text) => {
    if (!mayReport()) return void leftOut++;
    if (leftOut > 0) report('warning', 'mcp_notices_left_out', `${leftOut} notices were left out`);
    leftOut = 0;
    report(level, code, text);
  };
}
