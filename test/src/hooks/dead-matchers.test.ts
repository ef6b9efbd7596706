/** Hooks that no tool of this server can come to. */
import { expect, it } from 'vitest';
import type { HookSettings } from '../../../config/settings/hooks.ts';
import { deadMatchers } from '../../../src/hooks/compile-hooks.ts';

const hooks = [{ type: 'command', command: 'true' } as const];
const found = (settings: HookSettings) =>
  deadMatchers([{ file: 'the settings file', hooks: settings }], ['Bash', 'Edit', 'Write']);

it('names a matcher that means no tool, with its key', () => {
  const settings = { PreToolUse: [{ hooks }, { matcher: 'Bsh', hooks }], PostToolUse: [{ matcher: '^edit', hooks }] };
  expect(found(settings)).toEqual([
    { key: 'hooks.PreToolUse.1.matcher', matcher: 'Bsh' },
    { key: 'hooks.PostToolUse.0.matcher', matcher: '^edit' },
  ]);
});

it.each(['*', '', 'Edit|MultiEdit|Write', 'Ed.*', 'mcp__memory__.*'])('keeps silent about "%s"', (matcher) => {
  expect(found({ PreToolUse: [{ matcher, hooks }] })).toEqual([]);
});

it('keeps silent about what a session begins or ends with', () => {
  expect(found({ SessionStart: [{ matcher: 'startup', hooks }], SessionEnd: [{ matcher: 'other', hooks }] })).toEqual(
    [],
  );
});
