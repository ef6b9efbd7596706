/** Checks replies and frames against `/openapi.json`; nothing passes that is not described. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import type { ClientSideFrame } from './stream-client.ts';
import type { WireClient, WireReply } from './wire-client.ts';

/** The description of the API, with the parts that tests look into. */
export interface ApiDescription {
  readonly paths: Record<string, Record<string, { responses: Record<string, { content?: Record<string, unknown> }> }>>;
  readonly components: { readonly schemas: Record<string, Schema> };
}

interface Schema {
  readonly discriminator?: { readonly mapping?: Readonly<Record<string, string>> };
}

/** Checks against the description of one server. */
export interface DescribedApi {
  readonly api: ApiDescription;
  /** List the problems of a reply, by the description of its route; empty if it fits. */
  replyFaults(method: string, path: string, reply: WireReply): unknown;
  /** What is wrong with a frame that the server sent, by the schema of its type; an empty list when it fits. */
  frameFaults(frame: ClientSideFrame): unknown;
}

/** Ask a server for its description. */
export async function describedApi(client: Pick<WireClient, 'get'>): Promise<DescribedApi> {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajvFormats.default(ajv);
  const api = closed((await client.get('/openapi.json')).body) as ApiDescription;
  ajv.addSchema({ $id: 'api', ...api });

  function faults(place: readonly string[], value: unknown): unknown {
    const pointer = place.map((part) => encodeURIComponent(part.replaceAll('/', '~1'))).join('/');
    const validate = ajv.getSchema(`api#/${pointer}`) ?? ajv.compile({ $ref: `api#/${pointer}` });
    return validate(value) ? [] : validate.errors;
  }

  return {
    api,
    replyFaults(method, path, reply) {
      const { status, headers, text } = reply;
      const { responses } = api.paths[path]?.[method] ?? { responses: {} };
      const key = String(status) in responses ? String(status) : 'default';
      const types = responses[key]?.content ?? {};
      const type = headers.get('content-type')?.split(';')[0];
      if (type === undefined) return text === '' && Object.keys(types).length === 0 ? [] : 'a body is missing';
      if (!(type in types)) return `${type} is not described for ${status}`;
      if (type !== 'application/json') return [];
      return faults(['paths', path, method, 'responses', key, 'content', type, 'schema'], reply.body);
    },
    frameFaults(frame) {
      const union = api.components.schemas[frame.seq === undefined || frame.type === 'live' ? 'ControlFrame' : 'Frame'];
      const reference = union?.discriminator?.mapping?.[frame.type];
      if (reference === undefined) return `${frame.type} is not described`;
      return faults(reference.split('/').slice(1), frame);
    },
  };
}

/** The same, with no field allowed that is not described. */
function closed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(closed);
  const copy = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, closed(member)]));
  const isClosable = copy['type'] === 'object' && 'properties' in copy && !('additionalProperties' in copy);
  return isClosable ? { ...copy, additionalProperties: false } : copy;
}
