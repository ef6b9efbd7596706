/**
 * How a server is reached, by its settings: as a child, or behind a URL.
 */
import type { ConnectionOptions } from './connection.ts';
import { remoteOpener } from './remote-link.ts';
import type { McpServerSettings } from './server-settings.ts';
import { openStdioLink } from './stdio-link.ts';
import type { McpSurroundings } from './surroundings.ts';

/** Make the way to open links to one server. */
export function linkOpener(settings: McpServerSettings, surroundings: McpSurroundings): ConnectionOptions['open'] {
  if ('url' in settings) return remoteOpener(settings, surroundings.limits);
  return (hooks) => openStdioLink(settings, surroundings, hooks);
}
