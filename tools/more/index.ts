/** The tools that lead to more tools, and those of one session. */
import type { JsonObject } from '../../src/base/json.ts';
import type { Tool } from '../../src/tool/tool.ts';
import type { MoreToolServices } from './services.ts';
import { structuredOutputFor, structuredOutputTool } from './structured-output.ts';
import { toolSearchTool } from './tool-search.ts';

/** All of them, in no particular order: the pool sorts. */
export function moreTools(services: MoreToolServices) {
  return [structuredOutputTool(), toolSearchTool(services)];
}

/** The tools that a session brings by what it was begun with. */
export function sessionTools({ outputSchema }: { readonly outputSchema?: JsonObject }): readonly Tool[] {
  return outputSchema ? [structuredOutputFor(outputSchema)] : [];
}
