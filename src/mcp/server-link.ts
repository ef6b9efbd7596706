/**
 * How a server is reached, by its settings: as a child, or behind a URL.
 */
import type { ConnectionOptions } from './connection.ts';
import { remoteOpener } from './remote-link.ts';
import type { McpServerSettings } from './server-settings.ts';
import { openStdioLink } from './stdio-link.ts';
import type { McpEnvironment } from './environment.ts';

/** Make the way to open links to one server. */
export function linkOpener(settings: McpServerSettings, environment: McpEnvironment): ConnectionOptions['open'] {
  if ('url' in settings) return remoteOpener(settings, environment.limits);
  return (hooks) => openStdioLink(settings, environment, hooks);
}
