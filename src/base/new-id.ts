/**
 * Generates ids of turns and questions.
 */
import { randomUUID } from 'node:crypto';

/** Generate an id that matches `^[A-Za-z0-9_-]{1,128}$`. @param kind Prefix: `turn`, `ask`. */
export function newId(kind: string): string {
  return `${kind}_${randomUUID()}`;
}
