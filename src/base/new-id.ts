/**
 * Ids the server gives: turns, questions.
 */
import { randomUUID } from 'node:crypto';

/** A new id that fits `^[A-Za-z0-9_-]{1,128}$`. @param kind What it names: `turn`, `ask`. */
export function newId(kind: string): string {
  return `${kind}_${randomUUID()}`;
}
