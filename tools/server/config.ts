/** Config: shows a setting, or changes one of those that a session has for itself. */
import * as z from 'zod';
import { nearestKey } from '../../config/settings/section.ts';
import type { JsonValue } from '../../src/base/json.ts';
import { showValue } from '../../src/base/hidden-characters.ts';
import { buildTool } from '../../src/tool/build-tool.ts';
import type { SessionContext } from '../../src/tool/session-context.ts';
import type { ToolResult, ToolUseContext } from '../../src/tool/tool.ts';
import type { Display } from '../../src/wire/display.ts';
import { drawFailure } from '../../src/tool/draw-failure.ts';
import { PERMISSION_MODES } from '../../src/wire/permission-names.ts';
import type { ServerToolServices } from './services.ts';

const PROMPT = `Shows a setting of this session or server, or changes one of the session.

- Without \`value\` it shows the setting; that asks nobody.
- With \`value\` it changes "mode" (the permission mode) or "additionalDirectories" (absolute paths of folders beside the working directory: the whole list). A person is asked about each change. Change one only when the person wants it.
- To show only: cwd, root, toolMode, rules, toolSearch, siblingAbort, durability, and every limit as "limits.readLines".
- To plan before changes use EnterPlanMode, which needs no yes.`;

const ConfigInput = z.strictObject({
  setting: z.string().min(1).max(200).describe('Name of the setting, such as "mode" or "limits.commandMs"'),
  value: z
    .union([z.string().max(4_096), z.number(), z.boolean(), z.array(z.string().max(4_096)).max(256)])
    .optional()
    .describe('The new value; leave it out to show the setting'),
});

/** A parsed input. */
export type ConfigArguments = z.output<typeof ConfigInput>;

/** One setting. */
interface Setting {
  read(session: SessionContext): JsonValue;
  /** Absent: it cannot be changed from a session. */
  readonly write?: {
    /** Says what is wrong with a value. */
    problem(value: unknown): string | undefined;
    next(session: SessionContext, value: unknown): SessionContext;
  };
}

/** Make Config. */
export function configTool(services: ServerToolServices) {
  const settings = settingsOf(services);
  return buildTool({
    name: 'Config',
    searchHint: 'show or change a setting',
    shouldDefer: true,
    inputSchema: ConfigInput,
    maxResultSizeChars: 100_000,
    prompt: () => PROMPT,
    description: ({ setting, value }) =>
      value === undefined ? `Show the setting ${setting}` : `Set ${setting} to ${JSON.stringify(value)}`,
    isReadOnly: ({ value }) => value === undefined,
    isConcurrencySafe: ({ value }) => value === undefined,
    touchesOnlySession: ({ value }) => value === undefined,
    validateInput: (input) => {
      const message = problemOf(settings, input);
      return message === undefined ? { result: true } : { result: false, message };
    },
    checkPermissions: ({ setting, value }, { session }) => {
      if (value === undefined) return { behavior: 'allow' };
      const now = JSON.stringify(settings.get(setting)?.read(session));
      const message = `The model wants to change "${setting}" of this session from ${now} to ${JSON.stringify(value)}`;
      return { behavior: 'ask', isRequired: true, message };
    },
    call: (input, context) => Promise.resolve(runConfig(settings, input, context)),
    mapToolResultToToolResultBlockParam: (output: ConfigOutput, toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: configText(output),
    }),
    getToolUseSummary: (input) => input.setting ?? '',
    getActivityDescription: () => 'Looking at the settings',
    renderToolUseMessage: ({ setting, value }): Display => ({
      title: `${value === undefined ? 'Setting' : 'Change setting'} ${showValue(setting, '…')}`,
      ...(value !== undefined && { tone: 'warning' }),
      blocks: value === undefined ? [] : [{ kind: 'code', language: 'json', text: JSON.stringify(value) }],
    }),
    renderToolResultMessage: (output: ConfigOutput): Display => ({
      title: configText(output),
      tone: 'success',
      blocks: [],
    }),
    renderToolUseRejectedMessage: (_input, message) => drawFailure('Did not change the setting', message),
    renderToolUseErrorMessage: (message) => drawFailure('Could not use the setting', message),
  });
}

/** A setting, and what it was before where it changed. */
export interface ConfigOutput {
  readonly setting: string;
  readonly value: JsonValue;
  readonly before?: JsonValue;
}

function settingsOf(services: ServerToolServices): ReadonlyMap<string, Setting> {
  const fixed = (value: JsonValue): Setting => ({ read: () => value });
  const { toolSearch, siblingAbort = 'bash', durability, limits } = services;
  return new Map<string, Setting>([
    ['mode', mode],
    ['additionalDirectories', additionalDirectories],
    ['cwd', { read: ({ cwd }) => cwd }],
    ['root', { read: ({ root }) => root }],
    ['toolMode', { read: ({ toolMode }) => toolMode }],
    ['rules', { read: ({ permissions }) => permissions.rules as JsonValue }],
    ['toolSearch', fixed(toolSearch)],
    ['siblingAbort', fixed(siblingAbort)],
    ['durability', fixed(durability)],
    ...Object.entries(limits).map(([name, value]) => [`limits.${name}`, fixed(value)] as const),
  ]);
}

const mode: Setting = {
  read: ({ permissions }) => permissions.mode,
  write: {
    problem: (value) =>
      PERMISSION_MODES.some((known) => known === value) ? undefined : `expected one of ${PERMISSION_MODES.join(', ')}`,
    next(session, value) {
      const wanted = PERMISSION_MODES.find((known) => known === value) ?? session.permissions.mode;
      return { ...session, permissions: { ...session.permissions, mode: wanted } };
    },
  },
};

const additionalDirectories: Setting = {
  read: ({ permissions }) => [...permissions.additionalDirectories],
  write: {
    problem: (value) =>
      Array.isArray(value) ? undefined : 'expected a list of absolute paths, which is the whole list',
    next(session, value) {
      const directories = Array.isArray(value) ? value.map(String) : session.permissions.additionalDirectories;
      return { ...session, permissions: { ...session.permissions, additionalDirectories: directories } };
    },
  },
};

function problemOf(settings: ReadonlyMap<string, Setting>, { setting, value }: ConfigArguments): string | undefined {
  const found = settings.get(setting);
  if (!found) {
    const names = [...settings.keys()];
    const nearest = nearestKey(setting, names);
    const known = names.filter((name) => !name.startsWith('limits.')).join(', ');
    return `There is no setting "${setting}". ${nearest === undefined ? `There are ${known} and limits.<name>` : `Did you mean "${nearest}"?`}`;
  }
  if (value === undefined) return undefined;
  if (!found.write)
    return `Cannot change "${setting}" from a session: ask the operator of the server. It can only be shown`;
  const problem = found.write.problem(value);
  return problem === undefined ? undefined : `Cannot set "${setting}" to ${JSON.stringify(value)}: ${problem}`;
}

function runConfig(
  settings: ReadonlyMap<string, Setting>,
  { setting, value }: ConfigArguments,
  { session }: ToolUseContext,
): ToolResult<ConfigOutput> {
  const found = settings.get(setting);
  const now = found?.read(session) ?? null;
  if (value === undefined || !found?.write) return { data: { setting, value: now } };
  const { write } = found;
  return { data: { setting, value, before: now }, contextModifier: (context) => write.next(context, value) };
}

function configText({ setting, value, before }: ConfigOutput): string {
  const now = JSON.stringify(value);
  return before === undefined ? `${setting}: ${now}` : `Changed ${setting} from ${JSON.stringify(before)} to ${now}`;
}
