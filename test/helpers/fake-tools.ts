/** Small tools that do what a test needs: nothing, wait, fail, ask, change the context. */
import { plainTool } from './plain-tool.ts';
import { GauntletError, type CallErrorCode } from '../../src/base/errors.ts';
import type { Tool } from '../../src/tool/tool.ts';

/** Says its text back at once; touches nothing, safe beside others. */
export function noteTool(changes: Parameters<typeof plainTool>[1] = {}): Tool {
  return plainTool('Note', {
    touchesOnlySession: () => true,
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    ...changes,
  });
}

/** Has effects, so that somebody must allow it; `effects` says which texts it was run with. */
export function effectTool(name = 'Effect', changes: Parameters<typeof plainTool>[1] = {}) {
  const effects: string[] = [];
  const tool = plainTool(name, {
    call: (input) => {
      effects.push(String(input['text']));
      return Promise.resolve({ data: input });
    },
    ...changes,
  });
  return { tool, effects };
}

/** Runs until the test ends it, or its signal does. */
export function slowTool(name = 'Slow', changes: Parameters<typeof plainTool>[1] = {}) {
  const running = new Map<string, { readonly end: () => void; readonly fail: (code: CallErrorCode) => void }>();
  const begun = new Map<string, () => void>();
  const tool = plainTool(name, {
    touchesOnlySession: () => true,
    isConcurrencySafe: () => true,
    call: (input, { signal }) =>
      new Promise((resolve, reject) => {
        const text = String(input['text']);
        running.set(text, {
          end: () => resolve({ data: input }),
          fail: (code) => reject(new GauntletError(code, `${text} failed`)),
        });
        signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
        begun.get(text)?.();
      }),
    ...changes,
  });
  /** Wait until the call with this text runs. */
  const isRunning = (text: string) =>
    new Promise<void>((resolve) => (running.has(text) ? resolve() : begun.set(text, resolve)));
  return {
    tool,
    isRunning,
    end: (text: string) => running.get(text)?.end(),
    fail: (text: string, code: CallErrorCode = 'tool_failed') => running.get(text)?.fail(code),
  };
}

/** Starts a task that runs until it is stopped. */
export function taskTool(): Tool {
  return plainTool('Task', {
    touchesOnlySession: () => true,
    call: async (input, { tasks }) => {
      await tasks.start({
        kind: 'plain',
        description: String(input['text']),
        run: ({ signal }) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => resolve({ status: 'completed' }), { once: true });
          }),
      });
      return { data: input };
    },
  });
}

/** Fails, and as a shell does, takes its siblings with it. */
export function failingShell(): Tool {
  return plainTool('Shell', {
    abortsSiblings: true,
    touchesOnlySession: () => true,
    toAutoClassifierInput: (input) => String(input['text']),
    call: () => Promise.reject(new GauntletError('tool_failed', 'exit code 1')),
  });
}

/** Adds its text to the tool state of the session. */
export function rememberTool(changes: Parameters<typeof plainTool>[1] = {}): Tool {
  return plainTool('Remember', {
    touchesOnlySession: () => true,
    call: (input) =>
      Promise.resolve({
        data: input,
        contextModifier: (context) => ({
          ...context,
          toolState: { ...context.toolState, [String(input['text'])]: true },
        }),
      }),
    ...changes,
  });
}
