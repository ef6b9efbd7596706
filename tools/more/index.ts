/** ToolSearch, and the tools of one session. */
import type { JsonObject } from '../../src/base/json.ts';
import type { Tool } from '../../src/tool/tool.ts';
import type { MoreToolServices } from './services.ts';
import { skillTool } from './skill.ts';
import { structuredOutputFor, structuredOutputTool } from './structured-output.ts';
import { toolSearchTool } from './tool-search.ts';

/** Create all tools of this domain, in no particular order; the pool sorts them. */
export function moreTools(services: MoreToolServices) {
  return [skillTool(services), structuredOutputTool(), toolSearchTool(services)];
}

/** Create the tools of a session according to the options of its creation. */
export function sessionTools({ outputSchema }: { readonly outputSchema?: JsonObject }): readonly Tool[] {
  return outputSchema ? [structuredOutputFor(outputSchema)] : [];
}
