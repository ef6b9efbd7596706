/** What is wrong with a hook setting is said at the start. */
import { describe, expect, it } from 'vitest';
import { hooks as hooksSchema } from '../../../config/settings/hooks.ts';
import { compileHooks } from '../../../src/hooks/compile-hooks.ts';
import { HOOK_EVENTS } from '../../../src/hooks/hook-event.ts';

const command = { type: 'command', command: 'true' } as const;

describe('hook settings', () => {
  it('name the events that the server has', () => {
    expect(Object.keys(hooksSchema.shape)).toEqual(HOOK_EVENTS);
  });

  it('stop the start over a matcher, with the key, the text and what was expected', () => {
    const hooks = { PreToolUse: [{ hooks: [command] }, { matcher: '(a+)+$', hooks: [command] }] };
    const start = () => compileHooks([{ file: 'GAUNTLET_POLICY', hooks }]);
    expect(start).toThrow(/^"hooks\.PreToolUse\.1\.matcher" in GAUNTLET_POLICY: cannot use "\(a\+\)\+\$"\. Expected/);
    expect(start).toThrow(expect.objectContaining({ code: 'invalid_setting' }));
  });

  it('stop the start over a rule, with the key, the text and what was expected', () => {
    const hooks = { PostToolUse: [{ hooks: [command, { ...command, if: 'Bash(git' }] }] };
    const start = () => compileHooks([{ file: 'the settings file', hooks }]);
    expect(start).toThrow(
      /^"hooks\.PostToolUse\.0\.hooks\.1\.if" in the settings file: Cannot use rule "Bash\(git": Expected/,
    );
  });

  it('are nothing when there are none', () => {
    expect(compileHooks([{ file: 'the settings file', hooks: { PreToolUse: [] } }]).size).toBe(0);
  });
});
