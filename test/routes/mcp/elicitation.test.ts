/** Questions of the gate as MCP clients show them, and addresses that clients read. */
import { expect, it } from 'vitest';
import { toContent } from '../../../routes/mcp/content.ts';
import { toElicitation } from '../../../routes/mcp/elicitation.ts';
import { fileUri, parseResourceUri, upstreamUri } from '../../../routes/mcp/resource-uri.ts';
import type { PermissionRequestFrame } from '../../../src/wire/frames.ts';

const question = (text: string) =>
  ({
    title: 'Needs approval',
    tool_name: 'Write',
    display: { title: 'Write', blocks: [{ kind: 'text', text }] },
    input: {},
    warnings: [],
    suggestions: [],
  }) as unknown as PermissionRequestFrame;

it('a question that is too long says how much of it is missing, and where it is whole', () => {
  const messageOf = (chars: number) => toElicitation(question('x'.repeat(chars))).message;
  expect(messageOf(100)).toMatch(/x$/);
  expect(messageOf(20_000)).toMatch(/x\n\[cut: 12\d\d\d more characters.*prompts/);
});

it('half of a surrogate pair spoils no address', () => {
  const document = { type: 'document' as const, title: 'a\ud800', source: { media_type: 'application/pdf', data: '' } };
  expect(JSON.stringify(toContent([document as never]))).toContain('documents/a%EF%BF%BD');
  expect(parseResourceUri(fileUri('ses_1', '/a\udfff'))).toMatchObject({ path: '/a\ufffd' });
  expect(upstreamUri('ses_1', '\ud800', 'file:///a')).toContain('servers/%EF%BF%BD/file:///a');
  expect(parseResourceUri('gauntlet://sessions/ses_1/files/\ud800')).toMatchObject({ kind: 'file' });
});
