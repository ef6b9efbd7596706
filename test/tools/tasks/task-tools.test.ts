/** Background tasks are asked about and ended, under their new names and the old ones. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { resultText } from '../../../src/wire/result-text.ts';
import { shellToolsIn } from '../../helpers/shell-tools.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { allowEverything, parentMessage } from '../../helpers/tool-use-context.ts';
import { until } from '../../helpers/wire-client.ts';

describe('TaskOutput', () => {
  const shell = shellToolsIn(temporaryFolder());
  const progress: string[] = [];

  async function begin(command: string): Promise<string> {
    const { data } = await shell.run({ command, run_in_background: true });
    if (data.type !== 'background') throw new Error('It did not go into the background');
    return data.taskId;
  }
  async function ask(input: Record<string, unknown>): Promise<string> {
    const tool = shell.taskOutput;
    const parsed = tool.inputSchema.parse(input);
    const { data } = await tool.call(parsed, shell.context(), allowEverything, parentMessage, (piece) =>
      progress.push(piece.data.text),
    );
    return resultText(tool.mapToolResultToToolResultBlockParam(data, 'id').content);
  }

  it('waits for the end and tells it', async () => {
    const id = await begin('echo done; exit 4');
    const path = `${shell.context().sessionFolder}/${id}.output`;
    expect(await ask({ task_id: id })).toBe(
      `task_id: ${id}\nstatus: failed\nexit_code: 4\nwhole_output: ${path}\noutput:\ndone`,
    );
    expect(await ask({ task_id: id })).toContain('(no new output)');
  });

  it('shows whoever waits what the task has written, and what it writes', async () => {
    const id = await begin('echo before; until test -e go; do sleep 0.01; done; echo after');
    const path = `${shell.context().sessionFolder}/${id}.output`;
    await until(async () => existsSync(path) && readFileSync(path, 'utf8') === 'before\n');
    progress.length = 0;
    const asked = ask({ task_id: id });
    await until(async () => progress.join('') === 'before\n');
    writeFileSync(join(shell.context().session.cwd, 'go'), '');
    expect(await asked).toContain('output:\nbefore\nafter');
    expect(progress.join('')).toBe('before\nafter\n');
  });

  it('answers at once when it may not wait', async () => {
    const id = await begin('sleep 30');
    expect(await ask({ task_id: id, block: false })).toBe(`task_id: ${id}\nstatus: running\n(no new output)`);
    expect(await ask({ task_id: id, timeout: 10 })).toContain('status: running');
    await shell.tasks.stop(id);
  });

  it('knows the id by its old names, and shows the new one', async () => {
    const id = await begin('true');
    for (const key of ['bash_id', 'shell_id', 'agentId'])
      expect(await ask({ [key]: id })).toContain('status: completed');
    const schema = z.toJSONSchema(shell.taskOutput.inputSchema, { io: 'input' });
    expect(schema).toMatchObject({ type: 'object', required: ['task_id'], additionalProperties: false });
    expect(Object.keys(schema.properties ?? {})).toEqual(['task_id', 'block', 'timeout']);
  });

  it('refuses keys it does not know', () => {
    expect(shell.taskOutput.inputSchema.safeParse({ task_id: 'a', bash_id: 'b' }).success).toBe(false);
    expect(shell.taskOutput.inputSchema.safeParse({ bash_id: 'b' }).data).toEqual({ task_id: 'b' });
  });

  it('says which tasks there are when there is none of that name', async () => {
    await expect(ask({ task_id: 'bash_nowhere' })).rejects.toMatchObject({
      code: 'tool_failed',
      message: expect.stringContaining('This session has "bash_'),
    });
  });
});

describe('TaskStop', () => {
  const shell = shellToolsIn(temporaryFolder());

  it('ends a task and says how it had ended otherwise', async () => {
    const { data } = await shell.run({ command: 'sleep 30', run_in_background: true });
    if (data.type !== 'background') throw new Error('It did not go into the background');
    const tool = shell.taskStop;
    const stop = async () => {
      const { data: view } = await tool.call(tool.inputSchema.parse({ shell_id: data.taskId }), shell.context());
      return resultText(tool.mapToolResultToToolResultBlockParam(view, 'id').content);
    };
    expect(await stop()).toBe(`Task ${data.taskId} was ended, with everything it started`);
    expect(shell.survivors()).toEqual([]);
  });
});
