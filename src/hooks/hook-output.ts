/**
 * What a hook prints or answers: JSON of the public hook contract, read without trust.
 */
import * as z from 'zod';
import { isGauntletError } from '../base/errors.ts';
import { type JsonBounds, parseSafeJson } from '../base/json.ts';
import { PermissionModeSchema } from '../permissions/schemas.ts';
import type { PermissionUpdate } from '../wire/permission-context.ts';
import { HOOK_EVENTS, type HookEvent } from './hook-event.ts';

/** `Bash(git push:*)`, or the same in two parts. */
const rule = z.union([
  z.string(),
  z
    .object({ toolName: z.string(), ruleContent: z.string().optional() })
    .transform(({ toolName, ruleContent }) => (ruleContent ? `${toolName}(${ruleContent})` : toolName)),
]);

/** Where the public contract would keep an update is ignored: here it is the session's. */
const update = z.discriminatedUnion('type', [
  z.object({ type: z.literal('setMode'), mode: PermissionModeSchema }),
  z.object({
    type: z.enum(['addRules', 'removeRules', 'replaceRules']),
    behavior: z.enum(['allow', 'ask', 'deny']),
    rules: z.array(rule),
  }),
  z.object({ type: z.enum(['addDirectories', 'removeDirectories']), directories: z.array(z.string()) }),
]);

/** A list of them. Whether a rule parses, and how many there may be, is for the permission context to say. */
const hookPermissionUpdates: z.ZodType<readonly PermissionUpdate[]> = z.array(update);

const input = z.record(z.string(), z.unknown());

const specific = z.object({
  hookEventName: z.enum(HOOK_EVENTS).optional(),
  permissionDecision: z.enum(['allow', 'deny', 'ask', 'defer']).optional(),
  permissionDecisionReason: z.string().optional(),
  updatedInput: input.optional(),
  additionalContext: z.string().optional(),
  updatedToolOutput: z.unknown().optional(),
  /** The older word, for MCP tools alone. */
  updatedMCPToolOutput: z.unknown().optional(),
  /** The answer to a PermissionRequest. */
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
  /** `approve` and `block` of PreToolUse are the older words for allow and deny. */
  decision: z.enum(['approve', 'block']).optional(),
  reason: z.string().optional(),
  hookSpecificOutput: specific.optional(),
});

/** A hook's JSON. */
export type HookOutput = z.output<typeof output>;

/** What a text came to: nothing said (plain text counts as nothing), JSON, or garbage and why. */
export type ReadOutput = { readonly output: HookOutput } | { readonly garbage: string };

/**
 * Read what a hook wrote on its standard output. Never throws.
 *
 * JSON may stand behind lines of plain text: a guard that greets before it says no has said no.
 */
export function readHookOutput(text: string, event: HookEvent, bounds: JsonBounds): ReadOutput {
  const trimmed = text.trim();
  const start = trimmed.startsWith('[') ? 0 : trimmed.search(/^\{/m);
  if (start < 0) return { output: plainOutput(trimmed, event) };
  try {
    const parsed = output.safeParse(parseSafeJson(trimmed.slice(start), 'its output', bounds));
    if (!parsed.success) return { garbage: `printed JSON with a wrong "${wrongField(parsed.error)}"` };
    const about = parsed.data.hookSpecificOutput?.hookEventName ?? event;
    return about === event ? { output: parsed.data } : { garbage: `answered about another event, "${about}"` };
  } catch (error) {
    const reason = isGauntletError(error) ? error.details?.reason : undefined;
    return { garbage: GARBAGE[reason ?? ''] ?? 'printed what begins like JSON and is not' };
  }
}

/** What is printed when a session starts is for its model; else plain text says nothing. */
function plainOutput(text: string, event: HookEvent): HookOutput {
  return event === 'SessionStart' ? { hookSpecificOutput: { additionalContext: text } } : {};
}

const GARBAGE: Readonly<Record<string, string>> = {
  too_deep: 'printed JSON that is nested too deep',
  forbidden_key: 'printed JSON with a key that reaches a prototype',
  lone_surrogate: 'printed JSON with half of a surrogate pair',
};

function wrongField(error: z.ZodError): string {
  return error.issues[0]?.path.join('.') || 'shape';
}
