/** What one call needs, with a person who answers as a test says. */
import { DEFAULT_LIMITS } from '../../config/limits.ts';
import { execute, type CallServices } from '../../src/call/execute.ts';
import type { GateAnswer, GateQuestion, Permit } from '../../src/call/gate.ts';
import type { CallOutcome } from '../../src/call/outcome.ts';
import { parseBlock } from '../../src/call/parse.ts';
import type { JsonValue } from '../../src/base/json.ts';
import type { LocatePath } from '../../src/tool/located-path.ts';
import type { RuleSet } from '../../src/wire/permission-context.ts';
import type { Tool, ToolProgress, ToolUseContext } from '../../src/tool/tool.ts';
import { createPermissionContext } from '../../src/permissions/context.ts';
import { createToolPools } from '../../src/pool/tool-pools.ts';
import { parentMessage, sessionContextIn, toolUseContextIn } from './tool-use-context.ts';

/** Everything under this folder is inside; nothing is refused. */
export const ROOT = '/root-of-test';

const locateAnything: LocatePath = ({ path }) =>
  Promise.resolve({ spelled: path, real: path, isInside: path.startsWith(ROOT), isSessionFile: false });

/** The environment of a call; what happened in it is kept. */
export function callWorld(
  tools: readonly Tool[],
  options: {
    readonly rules?: Partial<RuleSet>;
    readonly answer?: (question: GateQuestion) => GateAnswer | Promise<GateAnswer>;
    readonly context?: Partial<ToolUseContext>;
    readonly locate?: LocatePath;
    readonly abandonMs?: number;
  } = {},
) {
  const rules = { session: options.rules ?? {} };
  const permissions = createPermissionContext({ mode: 'default', rules, isBypassAvailable: true });
  const pool = createToolPools(tools, {
    simpleTools: [],
    hiddenInRepl: [],
    toolSearch: 'auto',
  }).pool({ toolMode: 'normal', permissions }, []);
  const context = toolUseContextIn(ROOT, { session: sessionContextIn(ROOT, { permissions }), ...options.context });
  const asked: GateQuestion[] = [];
  const admitted: Permit[] = [];
  const progress: ToolProgress[] = [];
  const services: CallServices = {
    pool,
    locate: options.locate ?? locateAnything,
    limits: { ...DEFAULT_LIMITS, abandonMs: options.abandonMs ?? 20 },
    ask: async (question) => {
      asked.push(question);
      return (await options.answer?.(question)) ?? { behavior: 'deny', message: 'Nobody is here' };
    },
    admitted: (call) => Promise.resolve(void admitted.push(call)),
    tryModifier: () => undefined,
    onProgress: (piece) => void progress.push(piece),
    runInner: () => Promise.reject(new Error('This world runs no inner calls')),
    openChild: () => Promise.reject(new Error('This world has no child sessions')),
    heard: new Set(),
  };
  const run = async (name: string, input: JsonValue): Promise<CallOutcome> => {
    const parsed = parseBlock({ type: 'tool_use', id: 'call-1', name, input }, services);
    return parsed.kind === 'end' ? parsed.outcome : execute(parsed.invocation, context, parentMessage, services);
  };
  return { run, services, context, pool, asked, admitted, progress };
}
