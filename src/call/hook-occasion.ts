/**
 * What hooks are told of a call: the fields of the public contract, with the input as rules and people see it.
 */
import type { HookEvent } from '../hooks/hook-event.ts';
import type { HookOccasion, Hooks } from '../hooks/hooks.ts';
import type { PermissionUpdate } from '../contract/permission-context.ts';
import type { LocatePath } from '../contract/located-path.ts';
import type { ToolProgress, ToolUseContext } from '../contract/tool.ts';
import { ruleKeys } from '../permissions/rule.ts';
import { observableInput } from './observable-input.ts';
import type { ParsedCall } from './parse.ts';

/** What a call's hooks need of its session. */
export interface CallHookServices {
  readonly locate: LocatePath;
  /** Absent where the operator set none: then no step waits for any. */
  readonly hooks?: Hooks;
  /** Change what the session may do; the others that wait are judged again. @throws {GauntletError} `invalid_request`, `forbidden`, `log_unavailable` */
  updatePermissions?(updates: readonly PermissionUpdate[]): Promise<void>;
  /** Where slow hooks are told of. */
  onProgress?(progress: ToolProgress): void;
}

/**
 * Word an occasion.
 *
 * @param fields What the event tells beside the call itself.
 */
export function hookOccasion(
  event: HookEvent,
  { tool, input, block }: ParsedCall,
  context: ToolUseContext,
  locate: LocatePath,
  fields: Readonly<Record<string, unknown>> = {},
): HookOccasion & Required<Pick<HookOccasion, 'call'>> {
  const { session, sessionId } = context;
  const observable = observableInput(tool, input, session);
  return {
    payload: {
      session_id: sessionId,
      cwd: session.cwd,
      permission_mode: session.permissions.mode,
      hook_event_name: event,
      tool_name: tool.name,
      tool_input: observable,
      tool_use_id: block.id,
      ...fields,
    },
    names: ruleKeys(tool),
    call: { tool, input, observable, context, locate },
    projectFolder: session.root,
    notify: (level, code, message) => context.notify(level, code, message),
  };
}
