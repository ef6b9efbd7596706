/** The rules by which providers refuse tools, as far as they are known: each gives the first thing that is wrong. */

type Json = Readonly<Record<string, unknown>>;

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** What is wrong with a tool for the Messages API. */
export function anthropicProblems(tool: Json): readonly string[] {
  const schema = tool['input_schema'] as Json | undefined;
  return [...nameProblems(tool), ...(schema ? topProblems(schema) : ['input_schema is missing'])];
}

/** What is wrong with a function of Chat Completions or Responses. */
export function openAiProblems(tool: Json, format: 'chat' | 'responses'): readonly string[] {
  const called = (format === 'chat' ? tool['function'] : tool) as Json;
  const schema = called['parameters'] as Json | undefined;
  if (schema === undefined) return ['parameters are missing'];
  const isLong = format === 'chat' && String(called['description']).length > 1_024;
  return [
    ...nameProblems(called),
    ...(isLong ? ['description is longer than 1,024'] : []),
    ...topProblems(schema),
    ...nodesOf(schema).flatMap(([path, node]) =>
      [node['type']].flat().includes('array') && node['items'] === undefined ? [`${path}: array without items`] : [],
    ),
    ...(called['strict'] === true ? nodesOf(schema).flatMap(([path, node]) => strictProblems(path, node)) : []),
  ];
}

/** What is wrong with a function declaration of Gemini. */
export function geminiProblems(tool: Json): readonly string[] {
  const schema = tool['parameters'] as Json | undefined;
  const unknown = Object.keys(tool).filter((key) => !['name', 'description', 'parameters'].includes(key));
  const inSchema = schema ? nodesOf(schema).flatMap(([path, node]) => geminiNodeProblems(path, node)) : [];
  return [...nameProblems(tool), ...unknown.map((key) => `unknown field ${key}`), ...inSchema];
}

function nameProblems({ name }: Json): readonly string[] {
  return typeof name === 'string' && NAME.test(name) ? [] : [`name ${String(name)}`];
}

function topProblems(schema: Json): readonly string[] {
  const refused = ['anyOf', 'oneOf', 'allOf', 'enum', 'not'].filter((keyword) => schema[keyword] !== undefined);
  return [...refused.map((keyword) => `${keyword} at the top`), ...(schema['type'] === 'object' ? [] : ['no object'])];
}

const STRICT = new Set(
  (
    'type description enum const anyOf items properties required additionalProperties pattern format multipleOf ' +
    'minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems'
  ).split(' '),
);

function strictProblems(path: string, node: Json): readonly string[] {
  const problems = Object.keys(node).flatMap((key) => (STRICT.has(key) ? [] : [`${path}: ${key} in a strict schema`]));
  if (['type', 'anyOf', 'enum', 'const'].every((key) => node[key] === undefined)) problems.push(`${path}: no type`);
  if (![node['type']].flat().includes('object')) return problems;
  const names = Object.keys((node['properties'] as Json | undefined) ?? {}).sort();
  const required = [...((node['required'] as string[] | undefined) ?? [])].sort();
  if (JSON.stringify(names) !== JSON.stringify(required)) problems.push(`${path}: not all properties are required`);
  if (node['additionalProperties'] !== false) problems.push(`${path}: additionalProperties is not false`);
  return problems;
}

const GEMINI = new Set(
  (
    'type format title description nullable enum items minItems maxItems properties required minimum maximum pattern ' +
    'anyOf'
  ).split(' '),
);

function geminiNodeProblems(path: string, node: Json): readonly string[] {
  const problems = Object.keys(node).flatMap((key) => (GEMINI.has(key) ? [] : [`${path}: ${key}`]));
  const {
    type,
    enum: values,
    items,
    required = [],
    properties = {},
  } = node as Record<string, Json & string & string[]>;
  const isKnown = ['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT'].includes(type ?? '');
  if (!isKnown && node['anyOf'] === undefined) problems.push(`${path}: type ${String(type)}`);
  if (values !== undefined && (type !== 'STRING' || !values.every((value) => typeof value === 'string')))
    problems.push(`${path}: enum of ${String(type)}`);
  if (type === 'ARRAY' && items === undefined) problems.push(`${path}: array without items`);
  for (const name of required as string[])
    if (!Object.hasOwn(properties, name)) problems.push(`${path}: ${name} required`);
  return problems;
}

/** Every schema inside a schema, with its path. */
function nodesOf(schema: Json, path = '#'): readonly (readonly [string, Json])[] {
  const inner = ['items', 'additionalProperties', 'not'].flatMap((key) => {
    const member = schema[key];
    return typeof member === 'object' && member !== null ? [[`${path}/${key}`, member as Json] as const] : [];
  });
  const members = Object.entries((schema['properties'] as Json | undefined) ?? {});
  const branches = ['anyOf', 'oneOf', 'allOf'].flatMap((key) => [
    ...((schema[key] as Json[] | undefined) ?? []).entries(),
  ]);
  return [
    [path, schema],
    ...inner.flatMap(([at, node]) => nodesOf(node, at)),
    ...members.flatMap(([name, node]) => nodesOf(node as Json, `${path}/${name}`)),
    ...branches.flatMap(([place, node]) => nodesOf(node, `${path}/<${place}>`)),
  ];
}
