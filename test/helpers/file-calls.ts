/** Calls of the file tools as blocks want them, and what a server makes of one. */
import { join, resolve } from 'node:path';
import { block, type WireClient } from './wire-client.ts';

/** A tool and its input. */
export type Call = readonly [name: string, input: Readonly<Record<string, unknown>>];

export const read = (file_path: string): Call => ['Read', { file_path }];
export const write = (file_path: string, content = 'mine'): Call => ['Write', { file_path, content }];
export const create = (file_path: string): Call => ['Edit', { file_path, old_string: '', new_string: 'mine' }];
export const edit = (file_path: string, old_string: string, new_string: string): Call => [
  'Edit',
  { file_path, old_string, new_string },
];
export const glob = (pattern: string, path?: string): Call => [
  'Glob',
  { pattern, ...(path !== undefined && { path }) },
];
export const grep = (pattern: string, more: object = {}): Call => [
  'Grep',
  { pattern, output_mode: 'content', ...more },
];

/** Asks a server about calls, and makes them. */
export interface Judge {
  /** What is decided: `allow`, `ask`, `deny`, or `wrong` for an input that does not fit. Runs nothing. */
  decision(sessionId: string, call: Call): Promise<string>;
  /** What becomes of it when nobody is there to be asked. */
  outcome(sessionId: string, call: Call): Promise<{ readonly status: string; readonly text: string }>;
}

/**
 * Make a judge.
 *
 * @param home Whatever is written must lie below it, so that a gate that fails harms nothing but decoys.
 */
export function judge(client: WireClient, home: string): Judge {
  const root = join(home, 'workspace');
  return {
    async decision(sessionId, [name, input]) {
      const { status, body } = await client.post(`/sessions/${sessionId}/permissions/explain`, { name, input });
      return status === 400 ? 'wrong' : String(body['behavior']);
    },
    async outcome(sessionId, [name, input]) {
      const target = input['file_path'];
      const isHarmless = name === 'Read' || typeof target !== 'string' || resolve(root, target).startsWith(`${home}/`);
      if (!isHarmless) throw new Error(`A test may not write "${target}"`);
      const { calls, results } = await client.execute(sessionId, [block(name, input)], { on_ask: 'deny' });
      return { status: calls[0]?.status ?? 'none', text: JSON.stringify(results[0]?.content) };
    },
  };
}
