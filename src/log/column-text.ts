/**
 * Decodes text columns, which are selected as bytes: the native part of libsql ends the process on text that is not
 * UTF-8.
 */

/** Decode a column that was selected as a `BLOB`; invalid UTF-8 becomes U+FFFD. */
export function columnText(bytes: ArrayBuffer): string {
  return Buffer.from(bytes).toString();
}
