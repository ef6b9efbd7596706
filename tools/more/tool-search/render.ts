/** ToolSearch, for the model and for people. */
import type { ResultContentBlock, ToolResultBlock } from '../../../src/wire/blocks.ts';
import type { Display } from '../../../src/wire/display.ts';
import type { ToolSearchOutput } from './run.ts';
import type { ToolSearchArguments } from './schema.ts';

/** What the model is sent: definitions as text, and a reference to each tool that was deferred. */
export function toolSearchResult(
  { query, found, unknownNames, deferredCount }: ToolSearchOutput,
  toolUseId: string,
): ToolResultBlock {
  const block = { type: 'tool_result', tool_use_id: toolUseId } as const;
  if (found.length === 0) {
    const advice =
      deferredCount === 0
        ? 'None is deferred: call those in the list of tools as they stand there'
        : `${deferredCount} are deferred. Try other words, or "select:" with a name from the list of tools`;
    return { ...block, content: `No tool matches "${query}". ${advice}` };
  }
  const lines = found.map(({ definition }) => `<function>${JSON.stringify(definition)}</function>`);
  const unknown = unknownNames.map((name) => `No tool is named "${name}"`);
  const references = found.filter(({ isDeferred }) => isDeferred);
  const content: readonly ResultContentBlock[] = [
    { type: 'text', text: ['<functions>', ...lines, '</functions>', ...unknown].join('\n') },
    ...references.map(({ definition }) => ({ type: 'tool_reference' as const, tool_name: definition.name })),
  ];
  return { ...block, content };
}

/** What is searched for. */
export function renderToolSearch({ query }: Partial<ToolSearchArguments>): Display {
  return { title: 'Search tools', subtitle: typeof query === 'string' ? query : '…', blocks: [] };
}

/** What was found, for people. */
export function renderToolSearchResult({ query, found }: ToolSearchOutput, style: 'condensed' | undefined): Display {
  const names = found.map(({ definition }) => definition.name);
  return {
    title: found.length === 1 ? 'Found 1 tool' : `Found ${found.length} tools`,
    subtitle: query,
    tone: found.length === 0 ? 'warning' : 'success',
    blocks: style === 'condensed' || names.length === 0 ? [] : [{ kind: 'list', items: names }],
  };
}

/** A call that was not allowed, or that failed. */
export function renderToolSearchFailure(title: string, message: string): Display {
  return { title, tone: 'danger', blocks: [{ kind: 'text', text: message }] };
}
