/** How a listing of resources is drawn. */
import type { Display } from '../../../src/wire/display.ts';
import type { ListOutput } from './run.ts';

/** Rows drawn; the whole list is in the result. */
const SHOWN_RESOURCES = 100;

/** The intent. */
export function renderList({ server }: { readonly server?: string }): Display {
  return { title: `List resources of ${server ?? 'all MCP servers'}`, blocks: [] };
}

/** The result: a table, or its count when condensed. */
export function renderListResult({ resources, failures }: ListOutput, style?: 'condensed'): Display {
  const title = `${resources.length} ${resources.length === 1 ? 'resource' : 'resources'}`;
  const tone = failures.length === 0 ? 'success' : 'warning';
  if (style === 'condensed') return { title, tone, blocks: [] };
  const rows = resources
    .slice(0, SHOWN_RESOURCES)
    .map(({ server, uri, title: label, name }) => [server, label ?? name ?? '', uri]);
  return {
    title,
    tone,
    blocks: [
      { kind: 'table', columns: ['server', 'name', 'uri'], rows },
      ...failures.map((text) => ({ kind: 'text' as const, text })),
    ],
  };
}

/** A refusal or a failure. */
export function renderListError(
  message: string,
  input: { readonly server?: string },
  tone: 'warning' | 'danger',
): Display {
  return { ...renderList(input), tone, blocks: [{ kind: 'text', text: message }] };
}
