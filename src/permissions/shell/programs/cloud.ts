/** Containers, machines elsewhere, and what sets them up. */
import type { ProgramRecord } from '../program-record.ts';

/** Containers and clouds. */
export const CLOUD: readonly ProgramRecord[] = [
  { names: 'docker podman', reads: { alone: '--version -v' } },
  { names: 'docker-compose aws', reads: { alone: '--version' } },
];
