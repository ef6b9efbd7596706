/** The tools that lead to more tools. */
import type { MoreToolServices } from './services.ts';
import { toolSearchTool } from './tool-search/index.ts';

/** All of them, in no particular order: the pool sorts. */
export function moreTools(services: MoreToolServices) {
  return [toolSearchTool(services)];
}
