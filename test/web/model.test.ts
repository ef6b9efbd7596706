/** The parts of the console that need no browser. */
import { describe, expect, it } from 'vitest';
import { parseAnsi } from '../../web/src/model/ansi.ts';
import { hrefOf, readPlace, ticketOf } from '../../web/src/model/deep-link.ts';
import { splitRows, unifiedRows } from '../../web/src/model/diff-rows.ts';
import { parseMetrics } from '../../web/src/model/metrics.ts';
import { fieldsOf, issuesOf, valueOfText } from '../../web/src/model/schema-form.ts';
import { SessionModel } from '../../web/src/model/session-model.ts';
import { tokensOf } from '../../web/src/model/syntax.ts';
import { MAX_TAIL_CHARS, Tail } from '../../web/src/model/tail.ts';
import { cutText, MAX_LINE_CHARS, visible } from '../../web/src/model/visible.ts';
import { waterfallOf } from '../../web/src/model/waterfall.ts';
import { block, frameMaker, question, result, START_MS } from './frames.ts';

describe('hostile text', () => {
  it('shows what reorders, hides or controls', () => {
    expect(visible('a\u202eb\u200bc\u0007d\ufeff')).toBe('a⟨U+202E⟩b⟨U+200B⟩c⟨U+0007⟩d⟨U+FEFF⟩');
    expect(visible('tag\u{e0041} half\ud800')).toBe('tag⟨U+E0041⟩ half⟨U+D800⟩');
  });

  it('leaves scripts, emoji, tabs and lines as they are', () => {
    const text = 'שלום مرحبا\t👩‍👩‍👧\nیک‌روز';
    expect(visible(text)).toBe(text);
    expect(visible('a\r\nb')).toBe('a\nb');
  });

  it('cuts a line of five million characters, and never through a pair', () => {
    const { shown, leftChars } = cutText(`x${'😀'.repeat(2_500_000)}`, 20_000, 10);
    expect(shown.length).toBeLessThanOrEqual(MAX_LINE_CHARS);
    expect(/[\ud800-\udbff]$/.test(shown)).toBe(false);
    expect(shown.length + leftChars).toBe(5_000_001);
  });

  it('cuts after a number of lines', () => {
    expect(cutText('1\n2\n3\n4', 100, 2)).toEqual({ shown: '1\n2\n', leftChars: 3 });
    expect(cutText('1\n2', 100, 2)).toEqual({ shown: '1\n2', leftChars: 0 });
  });
});

describe('output of terminals', () => {
  it('becomes spans with the colours of the page', () => {
    expect(parseAnsi('\u001b[1;31mbad\u001b[0m ok')).toEqual([
      { text: 'bad', style: 'fg-1 bold' },
      { text: ' ok', style: '' },
    ]);
    expect(parseAnsi('\u001b[38;2;250;70;70mx')).toEqual([{ text: 'x', style: 'fg-9' }]);
    expect(parseAnsi('\u001b[48;5;10mx')).toEqual([{ text: 'x', style: 'bg-10' }]);
  });

  it('loses titles, links and cursor moves, and keeps the last state of a line', () => {
    expect(parseAnsi('\u001b]0;title\u0007a\u001b[2Kb\u001b]8;;http://x\u001b\\c')).toEqual([
      { text: 'a', style: '' },
      { text: 'b', style: '' },
      { text: 'c', style: '' },
    ]);
    expect(parseAnsi('10%\r50%\r100%\nnext')).toEqual([{ text: '100%\nnext', style: '' }]);
  });

  it('ends with a bounded number of spans', () => {
    expect(parseAnsi('\u001b[31mx\u001b[0my'.repeat(50_000)).length).toBeLessThan(5_010);
  });

  it('keeps the end of what grows', () => {
    const tail = new Tail();
    for (let line = 0; line < 100_000; line++) tail.append(`line ${line}\n`);
    expect(tail.text.length).toBeLessThanOrEqual(2 * MAX_TAIL_CHARS);
    expect(tail.text.endsWith('line 99999\n')).toBe(true);
    expect(tail.text.startsWith('line ')).toBe(true);
    expect(tail.droppedChars).toBeGreaterThan(900_000);
  });
});

describe('diffs', () => {
  const hunk = {
    ...{ old_start: 4, old_lines: 3, new_start: 4, new_lines: 3 },
    lines: [' same', '-const a = 1;', '-gone', '+const b = 1;', '\\ No newline at end of file'],
  };

  it('stand side by side, with the part of a line that differs', () => {
    const [head, same, changed, removed, note] = splitRows([hunk]);
    expect(head).toEqual({ kind: 'hunk', text: '@@ -4,3 +4,3 @@' });
    expect(same).toMatchObject({ left: { number: 4 }, right: { number: 4 } });
    expect(changed).toMatchObject({
      left: { number: 5, text: 'const a = 1;', changed: [6, 7] },
      right: { number: 5, text: 'const b = 1;', changed: [6, 7] },
    });
    expect(removed).toMatchObject({ kind: 'line', left: { text: 'gone' } });
    expect(note).toMatchObject({ kind: 'note' });
  });

  it('are unified with removed lines first', () => {
    const kinds = unifiedRows([hunk]).flatMap((row) =>
      row.kind === 'line' ? [(row.right ?? row.left)?.kind] : [row.kind],
    );
    expect(kinds).toEqual(['hunk', 'same', 'removed', 'removed', 'added', 'note']);
  });

  it('have the colours of their language', () => {
    const kinds = tokensOf('const x = "y"; // why', 'ts').filter(({ kind }) => kind !== 'plain');
    expect(kinds.map(({ kind, text }) => [kind, text])).toEqual([
      ['keyword', 'const'],
      ['string', '"y"'],
      ['comment', '// why'],
    ]);
    expect(tokensOf('<b>', 'unknown')).toEqual([{ kind: 'plain', text: '<b>' }]);
  });
});

describe('forms from schemas', () => {
  const schema = {
    type: 'object',
    properties: {
      mode: { enum: ['fast', 'slow'] },
      command: { type: 'string', minLength: 1 },
      count: { type: ['integer', 'null'], minimum: 1 },
      names: { type: 'array', items: { type: 'string' } },
      nested: { type: 'object', properties: { on: { type: 'boolean' } }, required: ['on'] },
    },
    required: ['command'],
    additionalProperties: false,
  } as const;

  it('have a control for each field, the required ones first', () => {
    const kinds = fieldsOf(schema).map(({ name, kind }) => `${name} ${kind}`);
    expect(kinds).toEqual(['command long', 'mode choice', 'count number', 'names texts', 'nested json']);
  });

  it('read what was typed', () => {
    const [command, , count, names, nested] = fieldsOf(schema);
    const empty = [command, count, names, nested].map((field) => field && valueOfText('', field));
    expect(empty).toEqual(['', undefined, undefined, undefined]);
    expect(count && valueOfText('3', count)).toBe(3);
    expect(names && valueOfText('a\nb\n', names)).toEqual(['a', 'b']);
    expect(() => nested && valueOfText('{', nested)).toThrow(SyntaxError);
  });

  it('say what is wrong and where', () => {
    expect(issuesOf({ command: '', mode: 'odd', count: 0, nested: {}, extra: 1 }, schema)).toEqual([
      { path: 'command', message: 'must not be empty' },
      { path: 'mode', message: 'must be one of fast, slow' },
      { path: 'count', message: 'must be 1 or more' },
      { path: 'nested.on', message: 'is required' },
      { path: 'extra', message: 'is not a field of this tool' },
    ]);
    expect(issuesOf({ command: 'ls', count: null }, schema)).toEqual([]);
    expect(issuesOf({}, schema)).toEqual([{ path: 'command', message: 'is required' }]);
  });
});

describe('addresses', () => {
  it.each([
    { view: 'sessions' } as const,
    { view: 'sessions', sessionId: 's', tab: 'thread', callId: 'odd id/ü#' } as const,
    { view: 'sessions', sessionId: 's', tab: 'changes' } as const,
    { view: 'try', sessionId: 's' } as const,
    { view: 'search', query: 'a b&c' } as const,
  ])('come back as they were: %j', (place) => {
    expect(readPlace(hrefOf(place))).toEqual(place);
  });

  it('that say nothing are the list of sessions', () => {
    for (const hash of ['', '#', '#/nowhere', '#/%E0%A4%A']) expect(readPlace(hash)).toEqual({ view: 'sessions' });
  });

  it('may hold a ticket', () => {
    expect(ticketOf('#ticket=abc_-9')).toBe('abc_-9');
    expect(ticketOf('#/sessions')).toBeUndefined();
  });
});

describe('timing', () => {
  it('tells what a call waited for, and leaves out the time of a person', () => {
    const frame = frameMaker();
    const model = new SessionModel();
    model.apply(frame(block('a'), 0));
    model.apply(frame(block('b'), 0));
    model.apply(frame({ type: 'state', tool_use_id: 'a', state: 'executing' }, 0));
    model.apply(frame(question('a', 'q'), 10));
    const resolved = { request_id: 'q', tool_use_id: 'a', behavior: 'allow', by: 'owner', reason: '' };
    model.apply(frame({ type: 'permission_resolved', ...resolved }, 60));
    model.apply(frame({ type: 'started', tool_use_id: 'a' }, 70));
    model.apply(frame(result('a'), 100));
    model.apply(frame({ type: 'state', tool_use_id: 'b', state: 'executing' }, 101));
    model.apply(frame(result('b'), 120));
    const { bars, lengthMs } = waterfallOf([...model.calls.values()], START_MS + 500);
    expect(lengthMs).toBe(120);
    expect(bars[0]?.segments.map(({ kind, fromMs, toMs }) => [kind, fromMs, toMs])).toEqual([
      ['gate', 0, 10],
      ['asked', 10, 60],
      ['gate', 60, 70],
      ['run', 70, 100],
    ]);
    expect(bars[1]?.waitedFor?.id).toBe('a');
  });
});

describe('metrics', () => {
  it('are summed by labels', () => {
    const metrics = parseMetrics('# HELP x y\nx{a="1",b="q\\"q"} 2\nx{a="2"} 3\ny 1e3\nbroken\n');
    expect(metrics.sum('x')).toBe(5);
    expect(metrics.sum('x', { a: '2' })).toBe(3);
    expect(metrics.sum('y')).toBe(1_000);
    expect(metrics.sum('z')).toBeUndefined();
  });
});
