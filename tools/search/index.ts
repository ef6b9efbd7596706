/** Search tools: find files by name and by content. */
import { globTool } from './glob/index.ts';
import { grepTool } from './grep/index.ts';
import type { SearchToolServices } from './services.ts';

/** Create all search tools, in no particular order; the pool sorts them. */
export function searchTools(services: SearchToolServices) {
  return [globTool(services), grepTool(services)];
}
