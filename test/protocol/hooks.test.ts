/** Hooks as an operator sets them, seen from outside: an existing guard, a policy, a start that is refused. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runServer, serverHome, startServer } from '../helpers/built-server.ts';
import { hookScript } from '../helpers/hook-sessions.ts';
import { block, wireClient } from '../helpers/wire-client.ts';

const command = (line: string, more: object = {}) => ({ hooks: [{ type: 'command', command: line, ...more }] });

describe('hooks of a server', () => {
  it('block what existing scripts block, and see no secret of the server', async () => {
    const home = serverHome();
    const [told, environment] = [join(home, 'told'), join(home, 'environment')];
    const settings = {
      permissions: { allow: ['Bash', 'Edit', 'Write'] },
      hooks: {
        PreToolUse: [
          { matcher: 'Bash', ...command(hookScript('block-destructive.sh'), { if: 'Bash(rm *)' }) },
          { matcher: 'Edit|Write', ...command(hookScript('protect-files.py')) },
        ],
        PostToolUse: [command(`${hookScript('record.mjs')} ${told} ${environment}`)],
      },
    };
    const client = wireClient(await startServer({ home, settings, environment: { SOME_API_KEY: 'canary-key' } }));
    const { results, calls } = await client.execute(await client.session(), [
      block('Bash', { command: 'echo hello' }),
      block('Bash', { command: 'cd . && rm -rf build' }),
      block('Write', { file_path: 'package.lock', content: '' }),
      block('Write', { file_path: 'notes.md', content: 'x' }),
    ]);
    expect(calls.map(({ status, error_code }) => error_code ?? status)).toEqual([
      'ok',
      'hook_blocked',
      'hook_blocked',
      'ok',
    ]);
    expect(results[1]).toMatchObject({ is_error: true, content: 'Destructive command blocked: cd . && rm -rf build' });
    expect(results[2]?.content).toContain('run the package manager');
    const lines = readFileSync(told, 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { tool_name: 'Bash', tool_response: { stdout: 'hello', stderr: '', interrupted: false } },
      { tool_name: 'Write', tool_response: { success: true } },
    ]);
    expect(lines[1]).toMatch(/"filePath":"[^"]*\/notes\.md"/);
    expect(readFileSync(environment, 'utf8')).not.toMatch(/canary|GAUNTLET_TOKEN|GAUNTLET_DATA_DIR/);
  });

  it('of a policy run beside those of the settings file', async () => {
    const home = serverHome();
    const policy = join(home, 'policy.json');
    writeFileSync(policy, JSON.stringify({ hooks: { PreToolUse: [command('echo "policy says no" >&2; exit 2')] } }));
    const allows = command(`printf '{"hookSpecificOutput":{"permissionDecision":"allow"}}'`);
    const environment = { GAUNTLET_POLICY: policy };
    const client = wireClient(await startServer({ home, settings: { hooks: { PreToolUse: [allows] } }, environment }));
    const { results, calls } = await client.execute(undefined, [block('Bash', { command: 'ls' })]);
    expect(calls[0]).toMatchObject({ status: 'denied', error_code: 'hook_blocked' });
    expect(results[0]?.content).toBe('policy says no');
  });

  it('that cannot be understood stop the start with one line', async () => {
    const { code, stderr } = await runServer({
      settings: { hooks: { PreToolUse: [{ matcher: '[a-z]+', hooks: [] }] } },
    });
    expect(code).toBe(78);
    expect(stderr).toMatch(/^gauntlet: "hooks\.PreToolUse\.0\.matcher"[^\n]*"\[a-z\]\+"[^\n]*Expected[^\n]*\n$/);
  });
});
