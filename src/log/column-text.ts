/**
 * Text as it comes from the log's tables: as bytes. On damaged text that is not UTF-8 the native part of
 * libsql would end the process.
 */

/** The text of a column that was selected as a `BLOB`; what is not UTF-8 becomes U+FFFD. */
export function columnText(bytes: ArrayBuffer): string {
  return Buffer.from(bytes).toString();
}
