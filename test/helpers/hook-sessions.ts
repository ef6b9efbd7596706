/** Sessions with hooks on a real process host, and hooks that answer what a test says. */
import { join } from 'node:path';
import { DEFAULT_LIMITS, type Limits } from '../../config/limits.ts';
import type { HookSettings } from '../../config/settings/hooks.ts';
import type { JsonValue } from '../../src/base/json.ts';
import type { Tool } from '../../src/tool/tool.ts';
import { createHooks, type HookOccasion } from '../../src/hooks/hooks.ts';
import { runProgram } from '../../src/process/run-program.ts';
import type { ProcessHost } from '../../src/process/process-host.ts';
import type { NewSession } from '../../src/session/directory/new-session.ts';
import { SessionDirectory } from '../../src/session/directory/session-directory.ts';
import { MemoryLog } from './memory-log.ts';
import { execute, framesOf, sessionServices } from './session-services.ts';

/** Absolute path of a hook script. */
export function hookScript(name: string): string {
  return join(import.meta.dirname, '../fixtures/hooks', name);
}

/** A command hook that prints JSON and ends well. */
export function says(output: JsonValue, fields: object = {}) {
  const text = JSON.stringify(output);
  return { type: 'command' as const, command: 'printf', args: ['%s', text], ...fields };
}

/** A PreToolUse hook's words. */
export function decides(permissionDecision: string, more: Readonly<Record<string, JsonValue>> = {}) {
  return says({ hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, ...more } });
}

/** A shell command as a hook. */
export function shell(command: string, fields: object = {}) {
  return { type: 'command' as const, command, ...fields };
}

/** Hooks as the server makes them. @throws {Error} When `settings` hold none. */
export function hooksOn(processHost: ProcessHost, settings: HookSettings, changes: Partial<Limits> = {}) {
  const limits: Limits = { ...DEFAULT_LIMITS, ...changes };
  const hooks = createHooks([{ file: 'the settings file', hooks: settings }], {
    limits,
    runCommand: (command) => runProgram(processHost, command),
  });
  if (!hooks) throw new Error('No hooks');
  return hooks;
}

/** An occasion that is no call, with what hooks told people. */
export function occasionOf(event: HookOccasion['payload']['hook_event_name'], names: readonly string[] = ['Note']) {
  const notices: string[] = [];
  const payload = { session_id: 's', cwd: '/', permission_mode: 'default', hook_event_name: event };
  const notify = (_level: string, code: string, message: string) => void notices.push(`${code}: ${message}`);
  return { notices, payload, names, projectFolder: '/', notify };
}

/** A session directory whose calls pass `settings`. */
export function hookSessions(
  processHost: ProcessHost,
  tools: readonly Tool[],
  settings: HookSettings,
  limits: Partial<Limits> = {},
) {
  const hooks = hooksOn(processHost, settings, limits);
  const services = sessionServices(new MemoryLog(), tools, { hooks, limits });
  const directory = new SessionDirectory(services);
  let calls = 0;

  /** One call in a session of its own: its result, its summary, its frames. */
  async function run(name: string, input: JsonValue, session: NewSession = {}) {
    const opened = await directory.create('owner', session);
    const block = { type: 'tool_use', id: `call-${++calls}`, name, input } as const;
    const reply = await execute(opened, [block]);
    const [result] = reply.results;
    const [call] = reply.calls;
    return {
      content: result?.content,
      status: call?.status,
      errorCode: call?.error_code,
      reply,
      session: opened,
      frames: await framesOf(opened),
    };
  }
  return { directory, hooks, services, run };
}
