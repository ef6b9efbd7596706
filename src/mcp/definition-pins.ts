/**
 * Remembers what each tool of a server said about itself when it was first seen, or last allowed.
 *
 * A server can be harmless while it is approved and turn afterwards; a definition that changed is
 * asked about once more.
 */
import type { StoredPins } from './pin-store.ts';
import type { McpToolDefinition } from './tool-definition.ts';

/** The pins of one server. */
export interface DefinitionPins {
  /** Note what is listed now: the first sight of a tool pins it, a later change is told. */
  see(definitions: readonly McpToolDefinition[]): void;
  /** Whether the definition is another than the pinned one. */
  isChanged(definition: McpToolDefinition): boolean;
  /** From now on this is the pinned one. */
  approve(definition: McpToolDefinition): void;
}

/**
 * Begin with the pins of earlier starts.
 *
 * @param pinned Kept on disk, so that a restart does not accept what a server says then.
 * @param maxPins Names remembered; those of a server that invents ever new ones are asked about each time.
 * @param onChanged Called once for each change of a tool, with its name as sent.
 */
export function definitionPins(
  pinned: StoredPins,
  maxPins: number,
  onChanged: (toolName: string) => void,
): DefinitionPins {
  /** What was last told about, so that a server that lists the same change again is not told twice. */
  const told = new Map<string, string>();
  return {
    see(definitions) {
      for (const { name, hash } of definitions) {
        const known = pinned.get(name);
        if (known === undefined) {
          if (pinned.size < maxPins) pinned.set(name, hash);
        } else if (known !== hash && told.get(name) !== hash) {
          told.set(name, hash);
          onChanged(name);
        }
      }
    },
    isChanged: ({ name, hash }) => pinned.get(name) !== hash,
    approve({ name, hash }) {
      const known = pinned.get(name);
      if (known !== undefined && known !== hash) pinned.set(name, hash);
    },
  };
}
