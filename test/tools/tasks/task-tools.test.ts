/** Background tasks are asked about and ended, under their new names and the old ones. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { resultText } from '../../../src/contract/blocks.ts';
import { shellToolsIn } from '../../helpers/shell-tools.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

describe('TaskOutput', () => {
  const shell = shellToolsIn(temporaryFolder());

  async function begin(command: string): Promise<string> {
    const { data } = await shell.run({ command, run_in_background: true });
    if (data.type !== 'background') throw new Error('It did not go into the background');
    return data.taskId;
  }
  async function ask(input: Record<string, unknown>): Promise<string> {
    const tool = shell.taskOutput;
    const { data } = await tool.call(tool.inputSchema.parse(input), shell.context());
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

  it('answers at once when it may not wait', async () => {
    const id = await begin('sleep 30');
    expect(await ask({ task_id: id, block: false })).toBe(`task_id: ${id}\nstatus: running\n(no new output)`);
    expect(await ask({ task_id: id, timeout: 10 })).toContain('status: running');
    await shell.backgroundTasks.stop('session-1', id);
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
