/** Runs one agent, in the foreground or as a task. */
import { join } from 'node:path';
import { DEFAULT_MODEL } from '../../../config/settings/models.ts';
import {
  type AgentBounds,
  type AgentEvent,
  type AgentOutcome,
  endingWords,
  runAgent,
} from '../../../src/agents/agent-loop.ts';
import type { AgentType } from '../../../src/agents/agent-types.ts';
import { openModel } from '../../../src/agents/model.ts';
import { type Group, MAIN_AGENT, mailText, type ReceivedMail } from '../../../src/agents/teams.ts';
import { cutText } from '../../../src/base/cut-text.ts';
import { showText } from '../../../src/base/hidden-characters.ts';
import { errorMessage, GauntletError } from '../../../src/base/errors.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import { loweredMode } from '../../../src/permissions/mode-order.ts';
import { createSpoolFile } from '../../../src/process/spool-file.ts';
import type { ChildSession, OpenChild } from '../../../src/tool/inner-call.ts';
import type { RunningTask, TaskEnd } from '../../../src/tool/task.ts';
import type { ToolUseContext } from '../../../src/tool/tool.ts';
import { resultText } from '../../../src/wire/result-text.ts';
import { callerGroup, childPreamble, handedMail, type OwnServices } from '../own-services.ts';
import { inOwnWorktree, type Kept, keptText } from './isolation.ts';
import { systemPrompt } from './prompt.ts';
import type { AgentArguments } from './schema.ts';

/** Result of a call. */
export type AgentOutput =
  | (AgentOutcome & {
      readonly kind: 'ended';
      /** The session that it worked in. */
      readonly sessionId: string;
      readonly bounds: AgentBounds;
      /** Messages to the caller that came meanwhile. */
      readonly mail: readonly ReceivedMail[];
    } & Kept)
  | { readonly kind: 'started'; readonly taskId: string; readonly outputPath?: string };

/** Plan of an agent, made before it starts. */
interface Plan {
  readonly input: AgentArguments;
  readonly type: AgentType;
  readonly modelName: string;
  readonly context: ToolUseContext;
  readonly services: OwnServices;
  readonly group: Group;
}

/** Most characters of one line about a call or a result, in the output of a task. */
const LINE_CHARS = 200;

/** Find the type that an input names. @throws {GauntletError} `invalid_input` naming the known ones. */
export function typeOf(types: readonly AgentType[], name: string): AgentType {
  const found = types.find((type) => type.name === name);
  if (found) return found;
  const known = types.map((type) => `"${type.name}"`).join(', ');
  throw new GauntletError('invalid_input', `There is no agent type "${name}". Use one of ${known}`);
}

/** Find the model for an agent. @throws {GauntletError} `invalid_input` naming the known ones. */
export function modelNameOf({ models }: OwnServices, wanted: string | undefined): string {
  const [first] = models.keys();
  const name = wanted ?? (models.has(DEFAULT_MODEL) ? DEFAULT_MODEL : first);
  if (name !== undefined && models.has(name)) return name;
  const known = [...models.keys()].map((each) => `"${each}"`).join(', ');
  throw new GauntletError('invalid_input', `There is no model "${name}". Use one of ${known}`);
}

/** Run an agent to its end. @param tell Called with its session, then with its texts and calls. */
export async function runInForeground(
  given: Omit<Plan, 'group'>,
  tell: (sessionId: string, text: string) => void,
): Promise<AgentOutput> {
  const plan = { ...given, group: callerGroup(given.services, given.context) };
  const { context, services, group } = plan;
  let sessionId = '';
  const outcome = await work(plan, {
    openChild: context.openChild,
    signal: context.signal,
    onOpen: (child) => void (sessionId = child.sessionId),
    tell: (event) => void (event.kind === 'text' && tell(sessionId, event.text)),
  });
  const isMain = group.name === MAIN_AGENT;
  const mail = isMain ? await services.teams.takeMain(group, handedMail(context.session)) : [];
  return { kind: 'ended', ...outcome, sessionId, bounds: boundsOf(plan), mail };
}

/** Start an agent as a task. @returns Once its start is on disk. */
export async function runInBackground(given: Omit<Plan, 'group'>): Promise<AgentOutput> {
  const plan = { ...given, group: callerGroup(given.services, given.context) };
  const { input, context, services, group } = plan;
  if (input.name !== undefined) services.teams.refuseTaken(group, input.name);
  const pathOf = (taskId: string) => join(context.sessionFolder, `${taskId}.txt`);
  const task = await context.tasks.start({
    kind: 'agent',
    description: showText(input.description),
    outputPath: pathOf,
    async run({ id, signal, say, openChild }) {
      const spool = createSpoolFile(pathOf(id), 0);
      const write = (line: string) => {
        say(`${line}\n`);
        void spool.write(Buffer.from(`${line}\n`));
      };
      const end = await workAsTask(plan, { signal, openChild, write });
      const { path } = await spool.finish(true);
      return { ...end, isOutputLost: path === undefined };
    },
  });
  return { kind: 'started', taskId: task.id, ...(task.outputPath !== undefined && { outputPath: task.outputPath }) };
}

/** Never rejects; text written before an error is kept. */
async function workAsTask(
  plan: Plan,
  { write, ...run }: Pick<RunningTask, 'signal' | 'openChild'> & { write(line: string): void },
): Promise<TaskEnd> {
  try {
    const outcome = await work(plan, {
      ...run,
      onOpen: ({ sessionId }) => write(`session: ${sessionId}`),
      tell: (event) => {
        const line = eventLine(event);
        if (line !== '') write(line);
      },
    });
    const { ending, data } = outcome;
    const bounds = boundsOf(plan);
    if (data !== undefined) write(reportText({ ...outcome, bounds }));
    const kept = outcome.worktree && keptText(outcome.worktree);
    if (kept !== undefined) write(kept);
    if (ending === 'done') return { status: 'completed', ...(kept !== undefined && { note: kept }) };
    return { status: 'failed', note: [`Incomplete: ${endingWords(ending, bounds)}`, kept].filter(Boolean).join('. ') };
  } catch (error) {
    return { status: 'failed', note: errorMessage(error) };
  }
}

/** Options of a run, in a call or in a task. */
interface AgentRun {
  readonly openChild: OpenChild;
  readonly signal: AbortSignal;
  onOpen(child: ChildSession): void;
  tell(event: AgentEvent): void;
}

/** Let an agent work, in a worktree of its own if it is to have one. */
function work(plan: Plan, run: AgentRun): Promise<AgentOutcome & Kept> {
  const { input, context, services } = plan;
  if (input.isolation === undefined) return workIn(plan, run, undefined);
  return inOwnWorktree(services, context, run.signal, (worktree) => workIn(plan, run, worktree));
}

async function workIn(plan: Plan, run: AgentRun, worktree: Kept['worktree']): Promise<AgentOutcome> {
  const { input, type, modelName, context, services, group } = plan;
  const settings = services.models.get(modelName);
  if (!settings) throw new GauntletError('invalid_input', `There is no model "${modelName}"`);
  const { mode } = context.session.permissions;
  const outputSchema = (input.output_schema as JsonObject | undefined) ?? type.outputSchema;
  if (input.name !== undefined) services.teams.refuseTaken(group, input.name);
  const atMost = services.schedules.boundOf(context.principal, context.toolUseId);
  const child = await run.openChild({
    ...(atMost && { atMost }),
    title: input.description,
    mode: loweredMode(type.permissionMode ?? mode, mode),
    ...(type.tools && { tools: type.tools }),
    rules: { deny: type.disallowedTools ?? [] },
    ...(outputSchema && { outputSchema }),
    ...(worktree && { worktree }),
  });
  try {
    run.onOpen(child);
    const mail = await services.teams.enter(group, child.sessionId, input.name);
    try {
      const team = await services.teams.team(group);
      const surroundings = {
        cwd: (worktree ?? context.session.worktree)?.path ?? context.session.root,
        ...(worktree && { worktree }),
        tools: child.tools(),
        preamble: childPreamble(services, child, context.principal),
        ...(input.name !== undefined && { name: input.name }),
        ...(team && { team }),
      };
      return await runAgent({
        model: openModel(modelName, settings, services.limits),
        system: systemPrompt(type, surroundings),
        prompt: input.prompt,
        session: child,
        bounds: boundsOf(plan),
        signal: run.signal,
        trace: context.trace,
        readMail: async () => {
          const fresh = await mail.read();
          return fresh.length > 0 ? [mailText(fresh)] : [];
        },
        tell: run.tell,
      });
    } finally {
      await mail.leave();
    }
  } finally {
    await child.end();
  }
}

function boundsOf({ type, services: { limits } }: Plan): AgentBounds {
  const { agentTurns, agentTokens, agentMs } = limits;
  return { turns: Math.min(agentTurns, type.maxTurns ?? agentTurns), tokens: agentTokens, ms: agentMs };
}

/** Format the report of an agent for the calling model. */
export function reportText({
  ending,
  text,
  data,
  bounds,
}: Pick<AgentOutcome, 'ending' | 'text' | 'data'> & { readonly bounds: AgentBounds }): string {
  if (data !== undefined) return JSON.stringify(data);
  const said = text === '' ? '(It said nothing)' : text;
  if (ending === 'done') return said;
  const last = text === '' ? 'It said nothing' : `What it said last:\n${text}`;
  return `Incomplete: the agent was ended, since ${endingWords(ending, bounds)}. ${last}`;
}

/** Return a task's output for an event; '' for none. */
function eventLine(event: AgentEvent): string {
  switch (event.kind) {
    case 'text':
      return event.text;
    case 'call':
      return cutText(`> ${event.call.name} ${showText(JSON.stringify(event.call.input))}`, LINE_CHARS);
    case 'result': {
      if (event.result.status === 'ok') return '';
      return cutText(`! ${event.call.name}: ${showText(resultText(event.result.content))}`, LINE_CHARS);
    }
  }
}
