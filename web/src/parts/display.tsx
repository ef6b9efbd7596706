/**
 * Draws what tools say to people (`Display`), and nothing else: the page knows no tool by name.
 */
import { memo, useState } from 'react';
import type { BlockOf, DisplayBlock } from '../model/wire.ts';
import { visible } from '../model/visible.ts';
import { TEXTS } from '../texts.ts';
import { Diff } from './diff.tsx';
import { Icon } from './icons.tsx';
import { Code, Line } from './plain-text.tsx';

/** Pictures that browsers draw without running anything. */
const PICTURES = /^image\/(png|jpeg|gif|webp|avif|bmp)$/;
const SHOWN_ITEMS = 40;

/** Blocks of a display. A form is drawn by the question that it belongs to. */
export const DisplayBlocks = memo(function DisplayBlocks({ blocks }: { readonly blocks: readonly DisplayBlock[] }) {
  return blocks.map((block, index) => <Block key={index} block={block} />);
});

function Block({ block }: { readonly block: DisplayBlock }) {
  switch (block.kind) {
    case 'text':
      return <Code text={block.text} lines={12} isProse />;
    case 'code':
      return <Code text={block.text} language={block.language} />;
    case 'diff':
      return <Diff path={block.path} hunks={block.hunks} />;
    case 'list':
      return <List items={block.items} />;
    case 'table':
      return <Table {...block} />;
    case 'image':
      return <Picture {...block} />;
    case 'link':
      return <Link {...block} />;
    case 'progress':
      return <Progress {...block} />;
    case 'form':
      return null;
  }
}

/** Items; those that begin with a box of Markdown are drawn as done or open. */
function List({ items }: { readonly items: readonly string[] }) {
  const [limit, setLimit] = useState(SHOWN_ITEMS);
  return (
    <>
      <ul className="items">
        {items.slice(0, limit).map((item, index) => (
          <li key={index}>
            <Line text={item} />
          </li>
        ))}
      </ul>
      <More left={items.length - limit} onMore={() => setLimit(limit * 10)} />
    </>
  );
}

function Table({ columns, rows }: BlockOf<'table'>) {
  const [limit, setLimit] = useState(SHOWN_ITEMS);
  return (
    <>
      <div className="table-box" tabIndex={0} role="region" aria-label={columns.map(visible).join(', ') || 'Table'}>
        <table>
          <thead>
            <tr>
              {columns.map((column, index) => (
                <th key={index} scope="col">
                  <Line text={column} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, limit).map((row, index) => (
              <tr key={index}>
                {row.map((cell, column) => (
                  <td key={column}>
                    <Line text={cell} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <More left={rows.length - limit} onMore={() => setLimit(limit * 10)} />
    </>
  );
}

function Picture({ media_type: type, data }: BlockOf<'image'>) {
  if (!PICTURES.test(type)) return <p className="muted">{TEXTS.call.noColours}</p>;
  return <img className="picture" src={`data:${type};base64,${data}`} alt={TEXTS.call.picture} loading="lazy" />;
}

function Link({ href, text }: BlockOf<'link'>) {
  // The address is shown beside its words: words may name another one.
  const address = addressOf(href);
  if (address === undefined) {
    return (
      <p className="muted">
        {TEXTS.call.blockedLink}: <Line text={`${text} ${href}`} />
      </p>
    );
  }
  return (
    <p className="link">
      <Icon name="link" />
      <a href={address} target="_blank" rel="noreferrer noopener">
        <Line text={text} />
      </a>{' '}
      <Line text={address} className="muted" />
    </p>
  );
}

function addressOf(href: string): string | undefined {
  const address = URL.canParse(href) ? new URL(href) : undefined;
  return address && /^https?:$/.test(address.protocol) ? address.href : undefined;
}

function Progress({ label, value }: BlockOf<'progress'>) {
  return (
    <p className="progress">
      <Line text={label} />
      {value !== undefined && <progress max={1} value={value} aria-label={visible(label)} />}
    </p>
  );
}

function More({ left, onMore }: { readonly left: number; onMore(): void }) {
  if (left <= 0) return null;
  return (
    <button type="button" className="text-button" onClick={onMore}>
      {TEXTS.call.moreRows(left)}
    </button>
  );
}
