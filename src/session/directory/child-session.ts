/**
 * The child's side of a child session: runs the blocks of the call that opened it, follows its parent's permissions,
 * and accepts nothing once that call has ended.
 */
import { plainCopy } from '../../base/json.ts';
import { failedOutcome } from '../../call/outcome.ts';
import { errorMessage, isGauntletError } from '../../base/errors.ts';
import type { InnerBlock, InnerResult, ListedTool } from '../../tool/inner-call.ts';
import { newId } from '../../base/new-id.ts';
import type { ToolPermissionContext } from '../../wire/permission-context.ts';
import { updatesAfterParent } from '../../permissions/child-permissions.ts';
import { applyUpdates } from '../../permissions/context.ts';
import { describeTool, promptOptions } from '../../pool/describe.ts';
import type { ToolPool } from '../../pool/tool-pool.ts';
import { cancelCalls } from '../cancel.ts';
import { readBlock } from '../../wire/block-schema.ts';
import { answerPrompt } from '../questions/answer.ts';
import type { SessionCore } from '../session-core.ts';
import type { RunningChild, SessionServices } from '../session-services.ts';
import { innerResult } from '../turn/inner-calls.ts';
import { acceptBlocks } from '../turn/intake.ts';

/** Create the handle through which a parent runs a child session. */
export function runningChild(core: SessionCore): RunningChild {
  const underWay = new Set<Promise<InnerResult>>();

  return {
    sessionId: core.id,
    tools: () => listedTools(core),
    permissions: () => core.context.permissions,
    run(block, options) {
      const running = runBlock(core, block, options);
      underWay.add(running);
      return running.finally(() => underWay.delete(running));
    },
    follow: (before, after) => follow(core, before, after),
    answer: (requestId, answer, by) => answerPrompt(core, requestId, answer, by),
    async end(code, message) {
      core.executor.end(code, message);
      await Promise.all([...underWay, core.tasks.stopAll({ status: 'killed', note: message })]);
      await core.services.endProcesses?.(core.id);
      // Logged after all frames that were sent before.
      const ended = { type: 'notice', level: 'info', code: 'child_ended', message } as const;
      await core.log.emit(ended).catch(() => undefined);
      core.parent = undefined;
    },
  };
}

/** Descriptions by pool: an agent sends them with each message. */
const listed = new WeakMap<ToolPool, readonly ListedTool[]>();

/** The tools as a model is told of them. */
function listedTools({ pool, services }: SessionCore): readonly ListedTool[] {
  const known = listed.get(pool);
  if (known) return known;
  const tools = describeTools(pool, services);
  listed.set(pool, tools);
  return tools;
}

function describeTools(pool: ToolPool, services: Pick<SessionServices, 'schemaTool'>): readonly ListedTool[] {
  const options = promptOptions(pool);
  const mayDefer = services.schemaTool !== undefined && pool.lookup(services.schemaTool) !== undefined;
  const firstOwn = pool.tools.length - pool.sessionCount;
  return pool.tools.flatMap((tool, place) => {
    try {
      const { name, description, input_schema: inputSchema } = describeTool(tool, options);
      const isDeferred = mayDefer && pool.isDeferred(tool);
      return [{ name, description, inputSchema, isDeferred, isForResult: place >= firstOwn }];
    } catch {
      // One schema that cannot be sent would spoil the whole request of a model.
      return [];
    }
  });
}

/** Take a block through the child, as a turn of its own. */
function runBlock(
  core: SessionCore,
  { name, input, id = newId('call') }: InnerBlock,
  { signal, askTimeoutMs, trace }: Parameters<RunningChild['run']>[1],
): Promise<InnerResult> {
  return new Promise((resolve) => {
    const refuse = (error: unknown) => {
      const code = isGauntletError(error, 'overloaded', 'rate_limited') ? 'resource_exhausted' : 'invalid_input';
      resolve(innerResult(String(id), failedOutcome(code, errorMessage(error))));
    };
    const cancel = () => void cancelCalls(core, { toolUseId: id });
    const accept = async () => {
      const block = readBlock({ type: 'tool_use', id, name, input: plainCopy(input)?.value });
      const { replayed } = await acceptBlocks(core, {
        blocks: [block],
        askTimeoutMs,
        trace,
        isClosed: true,
        onResult: (outcome, content) => {
          signal?.removeEventListener('abort', cancel);
          resolve({ ...innerResult(block.id, outcome), content });
        },
      });
      if (replayed.size > 0) throw new Error(`Cannot run a call under the id "${id}": it was used before`);
      signal?.addEventListener('abort', cancel, { once: true });
      if (signal?.aborted) cancel();
    };
    accept().catch(refuse);
  });
}

/** Apply a change of the parent's permissions to the child. If that fails, the child ends. */
function follow(core: SessionCore, before: ToolPermissionContext, after: ToolPermissionContext): void {
  try {
    const { context, services } = core;
    if (before === after && !after.shouldAvoidPermissionPrompts) return;
    const updates = updatesAfterParent(context.permissions, before, after);
    const permissions = applyUpdates(context.permissions, updates);
    const shouldAvoidPermissionPrompts = permissions.shouldAvoidPermissionPrompts || after.shouldAvoidPermissionPrompts;
    const changed = core.setContext({
      ...context,
      permissions: Object.freeze({ ...permissions, shouldAvoidPermissionPrompts }),
    });
    changed.catch((error: unknown) => services.onFault(error, 'A context could not be logged'));
    core.questions.rejudgeAll().catch((error: unknown) => services.onFault(error, 'A question could not be judged'));
  } catch (error) {
    core.executor.end('cancelled', `Cancelled: the session cannot follow its parent: ${errorMessage(error)}`);
  }
}
