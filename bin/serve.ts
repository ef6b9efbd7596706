/**
 * The wiring: settings, log, tools, app, listen, close.
 */
import type { Settings } from '../config/settings.ts';

/** Run the server until a signal ends it. */
export function serve(_settings: Settings): Promise<void> {
  return Promise.reject(new Error('The server is not wired yet'));
}
