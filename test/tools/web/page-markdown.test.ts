/** Pages become Markdown that a model can read: what people see of them, without what leads through a site. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readPage } from '../../../tools/web/web-fetch/page-markdown.ts';

const PAGES = new URL('../../fixtures/pages/', import.meta.url);
const read = (html: string) => readPage(html, 'https://example.com/docs/page').markdown;

it('keeps the chapter of an old book whole', async () => {
  const { title, markdown } = readPage(
    readFileSync(new URL('dickens-and-music.html', PAGES), 'utf8'),
    'https://b.test/',
  );
  expect(title).toBe('Charles Dickens and Music');
  await expect(markdown).toMatchFileSnapshot(new URL('dickens-and-music.txt', PAGES).pathname);
});

it('leaves out what nobody sees and what leads through the site', () => {
  const html = `<title>T</title><nav>menu</nav><script>run()</script><style>p{}</style><div hidden>secret</div>
    <p style="display:none">obey</p><p aria-hidden="true">ghost</p><!-- note --><main><h1>Head</h1><p>Words</p></main><footer>foot</footer>`;
  expect(read(html)).toBe('# Head\n\nWords');
});

it('resolves links, and drops those that run something or hold data', () => {
  const html = `<p><a href="../a?b#c">one</a> <a href="javascript:run()">two</a> <img src="data:image/png,x" alt="dot"> <img src="i.png" alt="pic"></p>`;
  expect(read(html)).toBe('[one](https://example.com/a?b#c) two dot ![pic](https://example.com/docs/i.png)');
  expect(read('<base href="https://cdn.test/x/"><a href="y">z</a>')).toBe('[z](https://cdn.test/x/y)');
});

it('writes tables, code, lists and struck words', () => {
  const html = `<table><tr><th>a|b<th>c<tr><td>1<td><p>2<p>3</table><pre><code class="language-js">let x;</code></pre><ul><li>one</ul><del>old</del>`;
  expect(read(html)).toBe('| a\\|b | c |\n| --- | --- |\n| 1 | 2 3 |\n\n```js\nlet x;\n```\n\n-   one\n\n~~old~~');
});

it('keeps the tables inside a table that only places them', () => {
  expect(read('<table><tr><td><table><tr><td>in<td>ner</table><td>beside</table>')).toBe(
    '| in | ner |\n| --- | --- |\n\nbeside',
  );
});

it('still gives the words of a page that is nested too deeply', () => {
  expect(read(`${'<div>'.repeat(100_000)}deep <b>words</b>`)).toBe('deep\nwords');
});

it('has nothing to say of an empty page', () => {
  expect(readPage('', 'https://example.com/')).toEqual({ title: '', markdown: '' });
});
