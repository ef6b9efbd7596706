/**
 * Feature flags: a tool whose flag is off is there, not enabled, and says why.
 */
import { GauntletError } from '../src/base/errors.ts';
import type { Tool } from '../src/tool/tool.ts';

/** The setting `features`. */
export interface FeatureFlags {
  /** On or off by tool name; a tool that is not named is on. */
  readonly features: Readonly<Record<string, boolean>>;
}

/**
 * Switch tools off whose flag says so.
 *
 * @throws {GauntletError} `invalid_setting` for a flag no tool has: a misspelt one would leave its tool on.
 */
export function withFeatures({ features }: FeatureFlags, tools: readonly Tool[]): readonly Tool[] {
  const names = new Set(tools.map(({ name }) => name));
  const unknown = Object.keys(features).find((name) => !names.has(name));
  if (unknown !== undefined) {
    const known = [...names].sort().join(', ');
    throw new GauntletError(
      'invalid_setting',
      `Setting "features": no tool has the flag "${unknown}"; use one of ${known}`,
    );
  }
  return tools.map((tool) => (features[tool.name] === false ? switchedOff(tool) : tool));
}

function switchedOff(tool: Tool): Tool {
  const disabledReason = () => `the setting "features" switches "${tool.name}" off`;
  return Object.freeze({ ...tool, isEnabled: () => false, disabledReason });
}
