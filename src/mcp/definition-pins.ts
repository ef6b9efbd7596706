/**
 * The pinned definitions of one server's tools: a tool whose definition differs from its pin is asked about.
 */
import { MAX_SERVER_TOOLS } from './list-tools.ts';
import type { Pin, StoredPins } from './pin-store.ts';
import { approvedText, type McpToolDefinition } from './tool-definition.ts';

/** Pins kept for each tool that may be listed at once; further names, of a server that keeps inventing them, require approval for each call. */
const PINS_PER_TOOL = 4;

/** The pins of one server. */
export interface DefinitionPins {
  /** Compare a new list with the pins: an unknown tool is pinned, a changed one is reported. */
  compareWithPins(definitions: readonly McpToolDefinition[]): void;
  /** True if the definition differs from the pinned one. */
  isChanged(definition: McpToolDefinition): boolean;
  /** Return the pinned definition of the same tool, as `approvedText` wrote it; undefined if only its hash was kept. */
  pinnedText(definition: McpToolDefinition): string | undefined;
  /** Pin this definition in place of the earlier one. */
  approve(definition: McpToolDefinition): void;
}

/**
 * Create the pins of one server from those stored.
 *
 * @param pinned Stored on disk, so that a restart does not accept a changed definition.
 * @param onChanged Called once for each change of a tool, with its name as sent.
 */
export function definitionPins(pinned: StoredPins, onChanged: (toolName: string) => void): DefinitionPins {
  /** Last change reported of each tool, so that listing it again does not repeat the notice. */
  const reportedHashes = new Map<string, string>();
  return {
    compareWithPins(definitions) {
      for (const definition of definitions) {
        const { name, hash } = definition;
        const known = pinned.get(name);
        if (known === undefined) {
          if (pinned.size < PINS_PER_TOOL * MAX_SERVER_TOOLS) pinned.set(name, pinOf(definition));
        } else if (known.hash === hash) {
          if (known.text === undefined) pinned.set(name, pinOf(definition));
        } else if (reportedHashes.get(name) !== hash) {
          reportedHashes.set(name, hash);
          onChanged(name);
        }
      }
    },
    isChanged: ({ name, hash }) => pinned.get(name)?.hash !== hash,
    pinnedText: ({ name }) => pinned.get(name)?.text,
    approve(definition) {
      const known = pinned.get(definition.name);
      if (known !== undefined && known.hash !== definition.hash) pinned.set(definition.name, pinOf(definition));
    },
  };
}

function pinOf(definition: McpToolDefinition): Pin {
  return { hash: definition.hash, text: approvedText(definition) };
}
