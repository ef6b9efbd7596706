/** A bare deny rule takes a tool out of the pool before any model sees it. */
import type { ToolPermissionContext } from '../contract/permission-context.ts';
import type { Tool } from '../contract/tool.ts';
import { rulesFor, type SourcedRule } from './rule-index.ts';

/** The deny rule without a spec (`mcp__server` included) that names this tool, or undefined. */
export function hidingRule(
  permissions: ToolPermissionContext,
  tool: Pick<Tool, 'name' | 'aliases' | 'origin'>,
): SourcedRule | undefined {
  return rulesFor(permissions, 'deny', tool).bare;
}
