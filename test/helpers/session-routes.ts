/** Every way to ask for a session, as the server describes itself: a new route is in the list by itself. */

/** One request that is about a session. */
export interface WayIn {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

/** What stands in addresses. */
interface Particulars {
  readonly id: string;
  readonly [parameter: string]: string;
}

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly minimum?: number;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } };
}

/** The requests, with bodies that fit their schemas. The WebSocket is not among them. */
export async function everyWayIn(url: string, particulars: Particulars): Promise<readonly WayIn[]> {
  const description = (await (await fetch(`${url}/openapi.json`)).json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  };
  return Object.entries(description.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) => wayIn(method, path, operation, particulars)),
  );
}

function wayIn(method: string, path: string, operation: Operation, particulars: Particulars): readonly WayIn[] {
  const schema = operation.requestBody?.content['application/json'].schema;
  const isInBody = schema?.properties?.['session_id'] !== undefined;
  const query = (operation.parameters ?? []).filter((one) => one.in === 'query');
  const isInQuery = query.some(({ name }) => name === 'session_id');
  const isInPath = path.startsWith('/sessions/{id}') && !path.endsWith('/stream');
  if (!isInBody && !isInQuery && !isInPath) return [];
  const address = path.replace(/\{(\w+)\}/g, (_all, name: string) => particulars[name] ?? 'Read');
  const asked = query.filter(({ name, required }) => required === true || name === 'session_id');
  const search = asked.map(({ name }) => `${name}=${name === 'session_id' ? particulars.id : 'x'}`).join('&');
  const body = schema && { ...(sample(schema) as object), ...(isInBody && { session_id: particulars.id }) };
  const wanted = path === '/execute' ? { tool_uses: [{ type: 'tool_use', id: 'a', name: 'Read', input: {} }] } : {};
  return [
    {
      method: method.toUpperCase(),
      path: search === '' ? address : `${address}?${search}`,
      ...(body && { body: { ...body, ...wanted } }),
    },
  ];
}

/** The smallest value that fits. */
function sample(schema: Schema): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const choice = schema.anyOf?.[0] ?? schema.oneOf?.[0];
  if (choice) return sample(choice);
  if (schema.type === 'array') return Array.from({ length: schema.minItems ?? 0 }, () => sample(schema.items ?? {}));
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 0;
  if (schema.type === 'boolean') return false;
  if (schema.type !== 'object') return 'x';
  const required = schema.required ?? [];
  return Object.fromEntries(required.map((name) => [name, sample(schema.properties?.[name] ?? {})]));
}
