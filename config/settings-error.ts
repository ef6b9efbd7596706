/**
 * A wrong setting: stops the start with one line that names the key and the fix.
 */

/** Exit code of a start that a wrong setting stopped (`EX_CONFIG` of sysexits.h). */
export const SETTINGS_EXIT_CODE = 78;

/** A setting that cannot be used. Never carries the value: it may be a secret. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  /** The environment variable, or the dotted path in the settings file. */
  readonly key: string;

  /**
   * @param key Environment variable, or dotted path in the file (`permissions.defaultMode`).
   * @param message One line: what is wrong with the key, and what to do.
   */
  constructor(key: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.key = key;
  }
}
