/**
 * Derives types from wire schemas.
 *
 * Each shape that goes over the wire is stated once, as a Zod schema of this folder: its type is inferred from it,
 * incoming values are checked against it, and `/openapi.json` and `docs/frames.md` are made from it. Frames and replies
 * are not checked on their way out, and building their schemas costs milliseconds: import them with `import type`.
 */
import * as z from 'zod';
import type { JsonValue } from '../base/json.ts';

/** The type of what a schema describes. Deeply read-only: values of the wire are shared, and never changed. */
export type Wire<Schema extends z.ZodType> = DeepReadonly<z.output<Schema>>;

/** Stops at `unknown` and at `JsonValue`, which are as read-only as they can be. */
type DeepReadonly<Value> = JsonValue extends Value
  ? Value
  : Value extends object
    ? { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> }
    : Value;

/**
 * An object that may have other fields than `shape` states, such as those of a model's vendor. Its type has the stated
 * ones.
 */
export function openObject<Shape extends z.core.$ZodShape>(shape: Shape): z.ZodObject<Shape> {
  return z.looseObject(shape);
}
