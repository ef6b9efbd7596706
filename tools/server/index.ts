/** The tools about the server itself. */
import { configTool } from './config.ts';
import type { ServerToolServices } from './services.ts';

/** All of them, in no particular order: the pool sorts. */
export function serverTools(services: ServerToolServices) {
  return [configTool(services)];
}
