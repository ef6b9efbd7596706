/**
 * The operator's log: JSON lines on standard error, never a token, an input or an output.
 */
import pino, { type Logger } from 'pino';
import type { Settings } from '../config/settings.ts';

/** Make the logger. A full disk or a closed pipe behind standard error loses lines, never the server. */
export function operatorLog({ logLevel }: Pick<Settings, 'logLevel'>): Logger {
  const destination = pino.destination({ dest: 2, sync: false });
  destination.on('error', () => undefined);
  return pino(
    {
      level: logLevel,
      base: undefined,
      redact: ['token', 'authorization', 'headers', '*.token', '*.authorization', '*.headers'],
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    destination,
  );
}
