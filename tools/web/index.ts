/** The web tools: finding pages and reading them. */
import type { WebToolServices } from './services.ts';
import { webFetchTool } from './web-fetch/index.ts';
import { webSearchTool } from './web-search/index.ts';

/** Create all web tools, in no particular order. */
export function webTools(services: WebToolServices) {
  return [webFetchTool(services), webSearchTool(services)];
}
