/** How reading a resource is drawn. */
import { resultText } from '../../../src/wire/blocks.ts';
import type { Display, DisplayBlock } from '../../../src/wire/display.ts';
import type { McpOutput } from '../../../src/mcp/call-result.ts';
import { visibleLine, visibleText } from '../../../src/mcp/visible-text.ts';

/** Text drawn of one resource; all of it is in the result. */
const SHOWN_CHARS = 4_000;
const CONDENSED_CHARS = 200;
const TITLE_CHARS = 300;

/** The intent; either part may still be missing. */
export function renderRead({ server = '…', uri = '…' }: { readonly server?: string; readonly uri?: string }): Display {
  return { title: visibleLine(`Read ${uri} of ${server}`, TITLE_CHARS), blocks: [] };
}

/** The result: its images and its text, cut. */
export function renderReadResult({ content }: McpOutput, style?: 'condensed'): Display {
  const images = content.flatMap((block): DisplayBlock[] =>
    block.type === 'image' ? [{ kind: 'image', media_type: block.source.media_type, data: block.source.data }] : [],
  );
  const text = visibleText(resultText(content), style === 'condensed' ? CONDENSED_CHARS : SHOWN_CHARS);
  return {
    title: 'Resource read',
    tone: 'success',
    blocks: [...(text === '' ? [] : [{ kind: 'text' as const, text }]), ...(style === 'condensed' ? [] : images)],
  };
}

/** A refusal or a failure. */
export function renderReadError(
  message: string,
  input: { readonly server?: string; readonly uri?: string },
  tone: 'warning' | 'danger',
): Display {
  return { ...renderRead(input), tone, blocks: [{ kind: 'text', text: message }] };
}
