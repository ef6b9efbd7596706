/** What models are told names only tools that there are. */
import { expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../config/limits.ts';
import { createPermissionContext } from '../../src/permissions/context.ts';
import { getAllBaseTools, type ToolServices } from '../../tools/index.ts';

/** Tools that models know from elsewhere. */
const KNOWN_ELSEWHERE = [
  ...['AskUserQuestion', 'ExitPlanMode', 'KillBash', 'KillShell', 'LS', 'MultiEdit', 'NotebookEdit'],
  ...['NotebookRead', 'REPL', 'Skill', 'SlashCommand', 'Task', 'TaskCreate', 'WebFetch', 'WebSearch'],
];

const services = {
  limits: DEFAULT_LIMITS,
  toolSearch: 'auto',
  mcp: { states: () => [] },
  models: new Map([['default', { provider: 'openai', model: 'm' }]]),
  agentTypes: [],
} as unknown as ToolServices;
const tools = getAllBaseTools({ ...services, features: {} });
const permissions = createPermissionContext({ mode: 'default', rules: {}, isBypassAvailable: false });

it.each(tools.map((tool) => [tool.name, tool] as const))('%s sends no model to a tool that is not there', (_, tool) => {
  const words = tool.prompt({ permissions, toolNames: tools.map(({ name }) => name) }).split(/\W+/);
  const missing = KNOWN_ELSEWHERE.filter((name) => tools.every((each) => each.name !== name));
  expect(missing.filter((name) => words.includes(name))).toEqual([]);
});

it.each([
  [undefined, 'A command that fails ends the calls beside it'],
  ['mutating-bash', 'that may change something and fails ends the calls beside it'],
  ['never', 'ends no other call'],
] as const)('Bash says what a failed command ends where siblingAbort is %s', (siblingAbort, words) => {
  const bash = getAllBaseTools({ ...services, siblingAbort, features: {} }).find(({ name }) => name === 'Bash');
  expect(bash?.prompt({ permissions, toolNames: [] })).toContain(words);
});
