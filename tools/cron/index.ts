/** Cron tools: prompts that run at times. */
import { cronCreateTool } from './cron-create.ts';
import { cronDeleteTool } from './cron-delete.ts';
import { cronListTool } from './cron-list.ts';
import type { CronToolServices } from './services.ts';

/** Create all cron tools, in no particular order; the pool sorts them. */
export function cronTools(services: CronToolServices) {
  return [cronCreateTool(services), cronDeleteTool(services), cronListTool(services)];
}
