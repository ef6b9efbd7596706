/** Cron tools: prompts that run at times, and batches that a request starts. */
import { cronCreateTool } from './cron-create.ts';
import { cronDeleteTool } from './cron-delete.ts';
import { cronListTool } from './cron-list.ts';
import { remoteTriggerTool } from './remote-trigger.ts';
import type { CronToolServices } from './services.ts';

/** Create all cron tools, in no particular order; the pool sorts them. */
export function cronTools(services: CronToolServices) {
  return [cronCreateTool(services), cronDeleteTool(services), cronListTool(services), remoteTriggerTool(services)];
}
