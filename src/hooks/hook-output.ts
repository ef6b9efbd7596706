/**
 * Parses a hook's output: JSON of the public hook contract, untrusted.
 */
import * as z from 'zod';
import { isGauntletError } from '../base/errors.ts';
import { parseSafeJson } from '../base/json.ts';
import type { PermissionUpdate } from '../wire/permission-context.ts';
import { PermissionModeSchema } from '../wire/permission-schemas.ts';
import { HOOK_EVENTS, type HookEvent } from './hook-event.ts';

/** A rule, as `Bash(git push:*)` or in two parts. */
const rule = z.union([
  z.string(),
  z
    .object({ toolName: z.string(), ruleContent: z.string().optional() })
    .transform(({ toolName, ruleContent }) => (ruleContent ? `${toolName}(${ruleContent})` : toolName)),
]);

/** The contract's `destination` is ignored: here an update always applies to the session. */
const update = z.discriminatedUnion('type', [
  z.object({ type: z.literal('setMode'), mode: PermissionModeSchema }),
  z.object({
    type: z.enum(['addRules', 'removeRules', 'replaceRules']),
    behavior: z.enum(['allow', 'ask', 'deny']),
    rules: z.array(rule),
  }),
  z.object({ type: z.enum(['addDirectories', 'removeDirectories']), directories: z.array(z.string()) }),
]);

/** A list of updates. The permission context validates the rules and their number. */
const hookPermissionUpdates: z.ZodType<readonly PermissionUpdate[]> = z.array(update);

const input = z.record(z.string(), z.unknown());

const specific = z.object({
  hookEventName: z.enum(HOOK_EVENTS).optional(),
  permissionDecision: z.enum(['allow', 'deny', 'ask', 'defer']).optional(),
  permissionDecisionReason: z.string().optional(),
  updatedInput: input.optional(),
  additionalContext: z.string().optional(),
  updatedToolOutput: z.unknown().optional(),
  /** Older name of `updatedToolOutput`, for MCP tools only. */
  updatedMCPToolOutput: z.unknown().optional(),
  /** Answer of a PermissionRequest hook. */
  decision: z
    .object({
      behavior: z.enum(['allow', 'deny']),
      updatedInput: input.optional(),
      updatedPermissions: hookPermissionUpdates.optional(),
      message: z.string().optional(),
      interrupt: z.boolean().optional(),
    })
    .optional(),
});

const output = z.object({
  continue: z.boolean().optional(),
  stopReason: z.string().optional(),
  suppressOutput: z.boolean().optional(),
  systemMessage: z.string().optional(),
  /** `approve` and `block` of PreToolUse are older names of allow and deny. */
  decision: z.enum(['approve', 'block']).optional(),
  reason: z.string().optional(),
  hookSpecificOutput: specific.optional(),
});

/** Parsed JSON of a hook. */
export type HookOutput = z.output<typeof output>;

/** Parsed output, empty for plain text, or the reason why it is invalid. */
export type ReadOutput = { readonly output: HookOutput } | { readonly problem: string };

/**
 * Parse a hook's standard output. Never throws.
 *
 * JSON may follow lines of plain text, so that a guard that prints a greeting first is still obeyed.
 */
export function readHookOutput(text: string, event: HookEvent): ReadOutput {
  const trimmed = text.trim();
  const start = trimmed.startsWith('[') ? 0 : trimmed.search(/^\{/m);
  if (start < 0) return { output: plainOutput(trimmed, event) };
  try {
    const parsed = output.safeParse(parseSafeJson(trimmed.slice(start), 'its output'));
    if (!parsed.success) return { problem: `printed JSON with a wrong "${wrongField(parsed.error)}"` };
    const about = parsed.data.hookSpecificOutput?.hookEventName ?? event;
    return about === event ? { output: parsed.data } : { problem: `answered about another event, "${about}"` };
  } catch (error) {
    const reason = isGauntletError(error) ? error.details?.reason : undefined;
    return { problem: JSON_PROBLEMS[reason ?? ''] ?? 'printed what begins like JSON and is not' };
  }
}

/** Plain text of a SessionStart hook is context for the model; for other events it is ignored. */
function plainOutput(text: string, event: HookEvent): HookOutput {
  return event === 'SessionStart' ? { hookSpecificOutput: { additionalContext: text } } : {};
}

const JSON_PROBLEMS: Readonly<Record<string, string>> = {
  too_deep: 'printed JSON that is nested too deep',
  forbidden_key: 'printed JSON with a key that reaches a prototype',
  lone_surrogate: 'printed JSON with half of a surrogate pair',
};

function wrongField(error: z.ZodError): string {
  return error.issues[0]?.path.join('.') || 'shape';
}
