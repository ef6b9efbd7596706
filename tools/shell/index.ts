/** The shell tools: commands, and waiting. */
import { bashTool } from './bash/index.ts';
import type { ShellToolServices } from './services.ts';
import { sleepTool } from './sleep.ts';

/** All shell tools, in no particular order: the pool sorts. */
export function shellTools(services: ShellToolServices) {
  return [bashTool(services), sleepTool()];
}
