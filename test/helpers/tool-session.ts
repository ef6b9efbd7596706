/** A session in a folder for tests that run file and search tools one after the other. */
import { writeFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { resultText } from '../../src/wire/result-text.ts';
import type { SessionContext } from '../../src/tool/session-context.ts';
import type { Tool, ToolUseContext } from '../../src/tool/tool.ts';
import { allowEverything, parentMessage, sessionContextIn, toolUseContextIn } from './tool-use-context.ts';

/** Runs tools, each seeing what the ones before it changed. */
export interface ToolSession {
  /** The result's text. Parses the input, validates it as the gate would, runs it. @throws What the tool throws, or its refusal. */
  run(tool: unknown, input: Record<string, unknown>): Promise<string>;
  /** The message of a run that must fail. */
  refusal(tool: unknown, input: Record<string, unknown>): Promise<string>;
  readonly context: SessionContext;
}

/** Begin a session in `root`. */
export function toolSession(root: string, changes: Partial<ToolUseContext> = {}): ToolSession {
  let session = sessionContextIn(root);
  async function run(anyTool: unknown, input: Record<string, unknown>): Promise<string> {
    const tool = anyTool as Tool;
    const context = toolUseContextIn(root, { session, ...changes });
    const parsed = tool.inputSchema.parse(input);
    const valid = await tool.validateInput?.(parsed, context);
    if (valid?.result === false) throw new Error(valid.message);
    const result = await tool.call(parsed, context, allowEverything, parentMessage);
    if (result.contextModifier) session = result.contextModifier(session);
    return resultText(tool.mapToolResultToToolResultBlockParam(result.data, 'call-1').content);
  }
  return {
    run,
    async refusal(tool, input) {
      try {
        await run(tool, input);
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
      throw new Error('It was not refused');
    },
    get context() {
      return session;
    },
  };
}

/** Write files below `root`, folders made; content by path. @returns `root`. */
export function writeTree(root: string, files: Readonly<Record<string, string | Uint8Array>>): string {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
}
