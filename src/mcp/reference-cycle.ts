/**
 * Finds a JSON Schema that would never finish: references that lead back to themselves without
 * going one level down into the input.
 *
 * A tree whose nodes hold nodes is fine, for the input ends somewhere; `{"$ref": "#"}` is not.
 */
import type { JsonObject } from '../base/json.ts';

/** Keywords that judge the same value as the schema they stand in. */
const SAME_VALUE_LISTS = ['allOf', 'anyOf', 'oneOf'];
const SAME_VALUE_SCHEMAS = ['not', 'if', 'then', 'else'];
const SAME_VALUE_MAPS = ['dependentSchemas', 'dependencies'];

/** References followed on one value; a longer chain is taken for one that never ends. */
const MAX_OPEN = 1_000;

/** Whether a local `$ref` of `schema` leads back to itself on the same value. */
export function hasReferenceCycle(schema: JsonObject): boolean {
  const finished = new Set<object>();
  const open = new Set<object>();

  function leadsBack(node: unknown): boolean {
    if (!isObject(node) || finished.has(node)) return false;
    if (open.has(node) || open.size > MAX_OPEN) return true;
    open.add(node);
    const isCycle = sameValueSchemas(node).some(leadsBack);
    open.delete(node);
    finished.add(node);
    return isCycle;
  }

  function sameValueSchemas(node: Record<string, unknown>): readonly unknown[] {
    return [
      ...(typeof node['$ref'] === 'string' ? [resolvePointer(schema, node['$ref'])] : []),
      ...SAME_VALUE_LISTS.flatMap((keyword) => (Array.isArray(node[keyword]) ? (node[keyword] as unknown[]) : [])),
      ...SAME_VALUE_SCHEMAS.map((keyword) => node[keyword]),
      ...SAME_VALUE_MAPS.flatMap((keyword) => (isObject(node[keyword]) ? Object.values(node[keyword]) : [])),
    ];
  }

  return everySchema(schema).some(leadsBack);
}

/** Every object inside, the schema itself first; not every one is a schema, which does no harm. */
function everySchema(schema: JsonObject): readonly unknown[] {
  const found: unknown[] = [schema];
  for (const node of found) {
    for (const inner of Object.values(node as object))
      if (typeof inner === 'object' && inner !== null) found.push(inner);
  }
  return found;
}

/** What a `#/…` reference points at; undefined when it is not local or points nowhere. */
function resolvePointer(schema: JsonObject, reference: string): unknown {
  if (!reference.startsWith('#')) return undefined;
  const keys = reference.slice(1).split('/').slice(1);
  return keys.reduce<unknown>((node, key) => {
    const name = safeDecode(key).replaceAll('~1', '/').replaceAll('~0', '~');
    return isContainer(node) && Object.hasOwn(node, name) ? node[name] : undefined;
  }, schema);
}

function safeDecode(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    // A stray percent sign: the key is taken as written.
    return key;
  }
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return isContainer(value) && !Array.isArray(value);
}
