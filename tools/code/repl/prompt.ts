/** Words of REPL for the model. */
import * as z from 'zod';
import type { PromptOptions, Tool } from '../../../src/tool/tool.ts';

const HEAD = `Runs JavaScript in a Node REPL that is kept for the session.

- Values and functions carry over to the next call, and a name may be declared again. \`await\` works everywhere. The value of the last expression is shown, and what console prints.
- Every tool is an async function: \`await Read({file_path})\` gives its text, \`await Read.output({…})\` its structured output; one that fails or is denied throws. \`await help('Read')\` tells its input; \`tools['…']\` reaches names that are no identifiers.`;

const REST = `- Code reaches files, programs and the network by these functions alone; \`require\` has Node's own modules.
- Use it for many calls in loops or side by side (\`Promise.all\`), and to filter results that would be long to read. Timers stand still between calls. Code that takes too long is ended, and its values are lost.`;

/**
 * The words; where a mode hides tools from the list, with the inputs of their functions, so far in front that a provider
 * which cuts long descriptions leaves them.
 */
export function replPrompt({ innerTools = [] }: Pick<PromptOptions, 'innerTools'>): string {
  if (innerTools.length === 0) return `${HEAD}\n${REST}`;
  return `${HEAD}\n\nFunctions here and nowhere else:\n${innerTools.map(signature).join('\n')}\n\n${REST}`;
}

/** A function as it is called: `Glob({pattern, path?})`. */
function signature({ name, inputSchema }: Tool): string {
  const { properties = {}, required = [] } = z.toJSONSchema(inputSchema, { io: 'input', unrepresentable: 'any' });
  const fields = Object.keys(properties).map((field) => {
    const spelled = /^[A-Za-z_$][\w$]*$/.test(field) ? field : JSON.stringify(field);
    return required.includes(field) ? spelled : `${spelled}?`;
  });
  return `${name}({${fields.join(', ')}})`;
}
