import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mcpToolName } from '../../../src/mcp/tool-name.ts';

describe('the name of an MCP tool', () => {
  test.each([
    ['files', 'read', 'mcp__files__read'],
    ['my-server', 'get_item', 'mcp__my-server__get_item'],
    ['a', 'x__y', 'mcp__a__x__y'],
    ['files', 'read_', 'mcp__files__read_'],
    ['s', 't'.repeat(56), `mcp__s__${'t'.repeat(56)}`],
  ])('%s and %s stay as they are', (server, tool, name) => {
    expect(mcpToolName(server, tool)).toBe(name);
  });

  // Each digest is what `printf 'server\0tool' | sha256sum` begins with.
  test.each([
    ['files', 'read file', 'mcp__files__read_file_d8793cb6'],
    ['my.server', 'go', 'mcp__my_server__go_045a3c25'],
    ['a__b', 'c', 'mcp__a__b__c_a92700ce'],
    ['a_', 'b', 'mcp__a___b_a00766a3'],
    ['a', '_b', 'mcp__a___b_ee647d3b'],
    ['files', 'größe', 'mcp__files__gr__e_86a73bad'],
    ['s', 't'.repeat(57), `mcp__s__${'t'.repeat(47)}_10693993`],
  ])('%s and %s get a digest of the pair', (server, tool, name) => {
    expect(mcpToolName(server, tool)).toBe(name);
  });

  test('is what the APIs take, whatever the pair', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (server, tool) => /^[A-Za-z0-9_-]{1,64}$/.test(mcpToolName(server, tool))),
    );
  });

  test('differs for pairs that would otherwise meet', () => {
    const letter = fc.constantFrom('a', '_', '.', 'ä');
    const part = fc.array(letter, { minLength: 1, maxLength: 4 }).map((letters) => letters.join(''));
    fc.assert(
      fc.property(part, part, part, part, (server, tool, otherServer, otherTool) => {
        fc.pre(server !== otherServer || tool !== otherTool);
        return mcpToolName(server, tool) !== mcpToolName(otherServer, otherTool);
      }),
      { numRuns: 1_000 },
    );
  });
});
