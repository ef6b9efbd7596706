/** Shell tools: run commands, and wait. */
import { bashTool } from './bash/index.ts';
import { monitorTool } from './monitor.ts';
import { powershellTool } from './powershell.ts';
import type { ShellToolServices } from './services.ts';
import { sleepTool } from './sleep.ts';

/** Create all shell tools, in no particular order; the pool sorts them. */
export function shellTools(services: ShellToolServices) {
  return [bashTool(services), monitorTool(services), powershellTool(services), sleepTool()];
}
