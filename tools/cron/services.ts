/** Dependencies of the cron tools. */
import type { ModelSettings } from '../../config/settings/models.ts';
import type { Schedules } from '../../src/tasks/schedules.ts';
import type { Triggers } from '../../src/tasks/triggers.ts';

/** Services of CronCreate, CronDelete, CronList and RemoteTrigger. */
export interface CronToolServices {
  readonly triggers: Triggers;
  readonly schedules: Schedules;
  /** Models of agents: without any, no prompt can run. */
  readonly models: ReadonlyMap<string, ModelSettings>;
}
