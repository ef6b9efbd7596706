/** `docs/frames.md`, made from the schemas of frames in `src/wire/`. */
import { replySchemas } from '../../routes/api/reply-schemas.ts';

/** The parts of JSON Schema that the schemas of frames use. */
interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** One field of a frame. */
export interface FrameField {
  readonly frame: string;
  readonly name: string;
  readonly meaning: string;
}

const INTRODUCTION = `# Frames

Every frame of the WebSocket channel, field by field. [PROTOCOL.md](../PROTOCOL.md#5-the-websocket-channel) has the rules between
them; \`/openapi.json\` has the same schemas as \`Frame\`, \`ControlFrame\` and \`ClientFrame\`.

This page is made from the schemas in \`src/wire/\`. To make it again: \`npx vitest run --config test/vitest.config.ts test/documents.test.ts -u\`.`;

const schemas = replySchemas() as Readonly<Record<string, Schema>>;

/** The whole page. */
export function framePage(): string {
  const parts = [
    INTRODUCTION,
    '## Log frames\n\nThey are numbered, stored, and sent to every reader of the session. Each has `seq` and `ts`:',
    table(fieldsOf(positionOf(framesOf('Frame')[0]))),
    ...framesOf('Frame').map((frame) => section(frame, ['type', 'seq', 'ts'])),
    '## Control frames\n\nThe server sends them over one connection. They have no `seq`, and are not stored.',
    ...framesOf('ControlFrame').map((frame) => section(frame, ['type'])),
    '## Client frames\n\nA client sends them. A field that is not listed is refused.',
    ...framesOf('ClientFrame').map((frame) => section(frame, ['type'])),
    '## Values\n\nObjects that several frames hold.',
    ...sharedNames().map(sharedSection),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** All fields of all frames. */
export function frameFields(): readonly FrameField[] {
  return ['Frame', 'ControlFrame', 'ClientFrame'].flatMap(framesOf).flatMap((frame) =>
    Object.entries(frame.properties ?? {})
      .filter(([name]) => name !== 'type')
      .map(([name, field]) => ({ frame: typeOf(frame), name, meaning: meaningOf(field) })),
  );
}

function framesOf(union: string): readonly Schema[] {
  const { anyOf = [], oneOf = [] } = schemas[union] ?? {};
  return [...anyOf, ...oneOf].map(resolved);
}

function positionOf({ properties = {}, required }: Schema = {}): Schema {
  const { seq = {}, ts = {} } = properties;
  return { properties: { seq, ts }, required };
}

function section(frame: Schema, hidden: readonly string[]): string {
  const fields = fieldsOf(frame).filter(({ name }) => !hidden.includes(name));
  const heading = `### ${typeOf(frame)}\n\n${frame.description ?? ''}.`;
  return fields.length === 0 ? heading : `${heading}\n\n${table(fields)}`;
}

function sharedSection(name: string): string {
  const schema = schemas[name] ?? {};
  const heading = `### ${name}${schema.description ? `\n\n${schema.description}.` : ''}`;
  if (schema.properties) return `${heading}\n\n${table(fieldsOf(schema))}`;
  const kinds = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  return `${heading}\n\n${kinds.map((kind) => `- ${typeText(kind)}`).join('\n')}`;
}

interface Row {
  readonly name: string;
  readonly isOptional: boolean;
  readonly schema: Schema;
}

function fieldsOf({ properties = {}, required = [] }: Schema): readonly Row[] {
  return Object.entries(properties).map(([name, schema]) => ({ name, isOptional: !required.includes(name), schema }));
}

function table(rows: readonly Row[]): string {
  const lines = rows.map(({ name, isOptional, schema }) =>
    row(`\`${name}${isOptional ? '?' : ''}\``, typeText(schema), meaningOf(schema)),
  );
  return [row('field', 'type', 'meaning'), '|---|---|---|', ...lines].join('\n');
}

function row(...cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function typeText(schema: Schema): string {
  const { $ref, type, items, properties } = schema;
  if ($ref !== undefined) return `[${nameIn($ref)}](#${nameIn($ref).toLowerCase()})`;
  if ('const' in schema) return code(schema.const);
  if (schema.enum) return schema.enum.map(code).join(' or ');
  const kinds = schema.anyOf ?? schema.oneOf;
  if (kinds) return kinds.map(typeText).join(' or ');
  if (type === 'array') return `list of ${typeText(items ?? {})}`;
  if (properties) {
    const fields = fieldsOf(schema).map(
      ({ name, isOptional, schema: field }) => `\`${name}${isOptional ? '?' : ''}\`: ${typeText(field)}`,
    );
    return `{ ${fields.join(', ')} }`;
  }
  return type === undefined ? 'any JSON value' : [type].flat().join(' or ');
}

function code(value: unknown): string {
  return `\`${JSON.stringify(value)}\``;
}

function meaningOf(schema: Schema): string {
  return schema.description ?? resolved(schema).description ?? '';
}

function typeOf({ properties = {} }: Schema): string {
  return String(properties['type']?.const);
}

function resolved(schema: Schema): Schema {
  return schema.$ref === undefined ? schema : (schemas[nameIn(schema.$ref)] ?? {});
}

function nameIn(reference: string): string {
  return reference.split('/').at(-1) ?? '';
}

/** Schemas that frames refer to, and those that these refer to, in the order in which they are met. */
function sharedNames(): readonly string[] {
  const names = new Set<string>();
  const visit = (value: unknown): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"\$ref":"[^"]*\/(\w+)"/g)) {
      if (names.has(name)) continue;
      names.add(name);
      visit(schemas[name]);
    }
  };
  for (const union of ['Frame', 'ControlFrame', 'ClientFrame']) visit(framesOf(union));
  return [...names];
}
