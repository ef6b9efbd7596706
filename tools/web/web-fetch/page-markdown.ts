/**
 * Converts HTML to Markdown: the article of a page if it has one, else everything but navigation.
 *
 * Runs on a thread of its own (`page-worker.ts`), since pages may be hostile and a large one takes seconds.
 */
import { isProbablyReaderable, Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import TurndownService from 'turndown';

/** Text of a page. */
export interface ReadPage {
  readonly title: string;
  readonly markdown: string;
}

/** Elements that a browser does not show, and controls. */
const HIDDEN =
  'title, script, style, template, noscript, iframe, object, embed, canvas, svg, math annotation, link, meta, dialog:not([open]), ' +
  '[hidden], [aria-hidden="true"], [style*="display:none"], [style*="display: none"], [style*="visibility:hidden"], ' +
  '[style*="visibility: hidden"], input, select, button, textarea';

/** Elements about the site, not about the subject of the page. */
const NAVIGATION = 'nav, footer, [role="navigation"], [role="contentinfo"], [role="search"], [role="banner"] nav';

/** Share of a page's text that an article must have to represent the page. */
const ARTICLE_SHARE = 0.4;

const LINK_SCHEMES = new Set(['http:', 'https:', 'mailto:']);

/** Longer titles are cut. */
const TITLE_CHARS = 300;

/** Deeper trees are not built, because the cost of each step grows with the depth. */
const MAX_DEPTH = 500;

/** Elements without an end tag, or whose end tag is often omitted. */
const UNCLOSED =
  /^(area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr|p|li|td|th|tr|dt|dd|option|thead|tbody|tfoot|path)$/;

/** Members of the DOM that are used here. */
interface PageElement {
  readonly innerHTML: string;
  readonly textContent: string | null;
  getAttribute(name: string): string | null;
  hasAttribute(name: string): boolean;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  remove(): void;
  replaceWith(text: string): void;
}

interface PageDocument {
  readonly body: PageElement;
  querySelector(selector: string): PageElement | null;
  querySelectorAll(selector: string): Iterable<PageElement>;
}

/** Convert a page to Markdown. @param url Address of the page, which resolves relative links. */
export function readPage(html: string, url: string): ReadPage {
  if (isTooDeep(html)) return { title: '', markdown: withoutTags(html) };
  const { document } = parseHTML(/<body\b/i.test(html) ? html : `<!doctype html><html><body>${html}</body></html>`);
  const title = oneLine(document.querySelector('title')?.textContent ?? '');
  resolveAddresses(document, url);
  for (const element of document.querySelectorAll(HIDDEN)) element.remove();
  // A table that contains tables is used for layout.
  for (const table of document.querySelectorAll('table:has(table)')) table.setAttribute('role', 'presentation');
  const article = articleOf(document.toString());
  for (const element of document.querySelectorAll(NAVIGATION)) element.remove();
  const body = mainOf(document);
  const isArticle = article !== undefined && article.chars >= ARTICLE_SHARE * body.chars;
  return { title, markdown: toMarkdown(isArticle ? article.html : body.html) };
}

/** A part of a page. */
interface Part {
  readonly html: string;
  /** Length of its text. */
  readonly chars: number;
}

function articleOf(html: string): Part | undefined {
  // Readability changes the tree, so it gets its own.
  const { document } = parseHTML(html);
  if (!isProbablyReaderable(document)) return undefined;
  const article = new Readability(document, { keepClasses: true }).parse();
  return typeof article?.content === 'string'
    ? { html: article.content, chars: charsOf(article.textContent ?? '') }
    : undefined;
}

function mainOf(document: PageDocument): Part {
  const body = partOf(document.body);
  const found = document.querySelector('main, [role="main"]');
  const main = found ? partOf(found) : undefined;
  return main !== undefined && main.chars >= ARTICLE_SHARE * body.chars ? main : body;
}

function partOf(element: PageElement): Part {
  return { html: element.innerHTML, chars: charsOf(element.textContent ?? '') };
}

/** Count the characters of a text, each run of blanks as one. */
function charsOf(text: string): number {
  return text.replace(/\s+/g, ' ').length;
}

/** Make the addresses of links and images absolute; remove `javascript:`, `data:` and other schemes. */
function resolveAddresses(document: PageDocument, url: string): void {
  const base = resolved(document.querySelector('base[href]')?.getAttribute('href') ?? '', url) ?? url;
  for (const link of document.querySelectorAll('a[href]')) setAddress(link, 'href', base);
  for (const picture of document.querySelectorAll('img')) {
    setAddress(picture, 'src', base);
    if (!picture.hasAttribute('src')) picture.replaceWith(picture.getAttribute('alt') ?? '');
  }
}

function setAddress(element: PageElement, attribute: 'href' | 'src', base: string): void {
  const address = resolved(element.getAttribute(attribute) ?? '', base);
  if (address === undefined) element.removeAttribute(attribute);
  else element.setAttribute(attribute, address);
}

function resolved(address: string, base: string): string | undefined {
  if (address === '' || !URL.canParse(address, base)) return undefined;
  const { protocol, href } = new URL(address, base);
  return LINK_SCHEMES.has(protocol) ? href : undefined;
}

function toMarkdown(html: string): string {
  const service = new TurndownService({
    headingStyle: 'atx',
    codeBlockStyle: 'fenced',
    bulletListMarker: '-',
    hr: '---',
  });
  service.addRule('struck', { filter: ['del', 's'], replacement: (text) => `~~${text}~~` });
  addTables(service);
  return tidy(service.turndown(html));
}

/** Convert tables. turndown's own plugin for tables takes minutes for some thousand rows. */
function addTables(service: TurndownService): void {
  const begun = new WeakSet<object>();
  service.addRule('cell', {
    filter: ['td', 'th'],
    replacement: (text, node) =>
      isLayout(node)
        ? `${text}\n\n`
        : ` ${text
            .trim()
            .replace(/\s*\n\s*/g, ' ')
            .replaceAll('|', '\\|')} |`,
  });
  service.addRule('row', {
    filter: 'tr',
    replacement: (text, node) => {
      const table = tableOf(node);
      if (table === undefined || isLayout(node)) return text;
      if (begun.has(table)) return `\n|${text}`;
      begun.add(table);
      return `\n|${text}\n|${' --- |'.repeat(node.childNodes.length)}`;
    },
  });
  service.addRule('table', { filter: 'table', replacement: (text) => `\n\n${text}\n\n` });
  service.addRule('rows', { filter: ['thead', 'tbody', 'tfoot'], replacement: (text) => text });
}

/** Members of a node that are used here. */
interface TreeNode {
  readonly nodeName: string;
  readonly parentNode: TreeNode | null;
  getAttribute?(name: string): string | null;
}

/** Find the table of a row or cell. */
function tableOf(node: TreeNode): TreeNode | undefined {
  let above = node.parentNode;
  while (above !== null && above.nodeName !== 'TABLE') above = above.parentNode;
  return above ?? undefined;
}

function isLayout(node: TreeNode): boolean {
  return tableOf(node)?.getAttribute?.('role') === 'presentation';
}

function isTooDeep(html: string): boolean {
  let depth = 0;
  for (const [, end, name = ''] of html.matchAll(/<(\/?)([a-z][a-z0-9-]{0,30})/gi)) {
    if (UNCLOSED.test(name.toLowerCase())) continue;
    depth = Math.max(0, depth + (end === '' ? 1 : -1));
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

/** Remove the tags in one pass, however deeply they are nested. */
function withoutTags(html: string): string {
  const words: string[] = [];
  for (let at = 0; at < html.length;) {
    const open = html.indexOf('<', at);
    words.push(html.slice(at, open === -1 ? html.length : open));
    const close = open === -1 ? -1 : html.indexOf('>', open);
    if (close === -1) break;
    at = close + 1;
  }
  return tidy(words.filter((word) => word.trim() !== '').join('\n'));
}

function tidy(text: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd());
  return lines
    .filter((line, index) => line !== '' || lines[index - 1] !== '')
    .join('\n')
    .trim();
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, TITLE_CHARS);
}
