/**
 * The shapes of replies as JSON Schema. Loaded when somebody asks for the description of the API: nothing is
 * checked against them on a reply's way out.
 */
import * as z from 'zod';
import { CALL_SHAPES } from './call-shapes.ts';
import { SESSION_SHAPES } from './session-shapes.ts';

const SHAPES = { ...CALL_SHAPES, ...SESSION_SHAPES };

/** The name of a shape, as a route gives it. */
export type ReplyName = keyof typeof SHAPES;

/** Where a shape stands in the description. */
export function replyReference(name: string): string {
  return `#/components/schemas/${name}`;
}

/** All shapes, by name, as they refer to one another. */
export function replySchemas(): Record<string, object> {
  const registry = z.registry<{ id: string }>();
  for (const [id, shape] of Object.entries(SHAPES)) registry.add(shape, { id });
  const { schemas } = z.toJSONSchema(registry, { io: 'input', unrepresentable: 'any', uri: replyReference });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _dialect, $id: _id, ...schema }]) => [name, schema]),
  );
}
