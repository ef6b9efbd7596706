/**
 * The `hooks` setting: programs and addresses that are asked before and after calls, by event.
 */
import * as z from 'zod';
import { section } from './section.ts';

const text = z.string().min(1, 'must not be empty');

const anyHook = {
  /** Seconds. */
  timeout: z.number().positive().max(86_400).optional(),
  /** A permission rule: only calls that it is about. */
  if: text.optional(),
  onFailure: z.enum(['continue', 'block']).optional(),
};

const hook = z.discriminatedUnion('type', [
  section({ type: z.literal('command'), command: text, args: z.array(z.string()).optional(), ...anyHook }),
  section({
    type: z.literal('http'),
    url: z.url({ protocol: /^https?$/ }),
    headers: z.record(z.string(), z.string()).optional(),
    ...anyHook,
  }),
]);

const matchers = z.array(section({ matcher: z.string().optional(), hooks: z.array(hook) })).optional();

/** Hooks by event; a test holds the names equal to those of `src/hooks/`. */
export const hooks = section({
  PreToolUse: matchers,
  PostToolUse: matchers,
  PostToolUseFailure: matchers,
  PermissionRequest: matchers,
  PermissionDenied: matchers,
  SessionStart: matchers,
  SessionEnd: matchers,
});

/** One hook as it is set. */
export type HookSetting = z.output<typeof hook>;

/** Hooks by event, as one file sets them. */
export type HookSettings = z.output<typeof hooks>;

/** The hooks of one file, with what to call the file in messages. */
export interface HookSource {
  readonly file: string;
  readonly hooks: HookSettings;
}

/** An administrator's hooks come last: where several replace an input, theirs is what runs. Nothing switches them off. */
export function hookSources(user: HookSettings | undefined, policy: HookSettings | undefined): readonly HookSource[] {
  return [
    ...(user ? [{ file: 'the settings file', hooks: user }] : []),
    ...(policy ? [{ file: 'GAUNTLET_POLICY', hooks: policy }] : []),
  ];
}
