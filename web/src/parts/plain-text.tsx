/**
 * Texts that come from elsewhere: always text, never markup. What hides or reorders characters is shown, and what is
 * long is cut until somebody asks for it.
 */
import { useMemo, useState } from 'react';
import { type AnsiSpan, hasAnsi, parseAnsi } from '../model/ansi.ts';
import { quantity } from '../model/quantities.ts';
import { tokensOf } from '../model/syntax.ts';
import { cutText, visible, visibleLine } from '../model/visible.ts';
import { TEXTS } from '../texts.ts';

/** Characters and lines that a text shows at first, and how much more each press of the button brings. */
const SHOWN_CHARS = 20_000;
const SHOWN_LINES = 14;
const MORE_CHARS = 200_000;
const MORE_LINES = 400;
/** Code beyond this has no colours. */
const MAX_COLOURED_CHARS = 60_000;

/** One line of foreign text. */
export function Line({ text, className }: { readonly text: string; readonly className?: string }) {
  return (
    <bdi className={className} title={text.length > 60 ? visibleLine(text) : undefined}>
      {visibleLine(text)}
    </bdi>
  );
}

interface CodeProps {
  readonly text: string;
  readonly language?: string | undefined;
  /** Lines that are shown at first. */
  readonly lines?: number;
  readonly label?: string;
  /** Words rather than code: drawn in the font of the page. */
  readonly isProse?: boolean;
}

/** A block of code or output. */
export function Code({ text, language, lines = SHOWN_LINES, label, isProse = false }: CodeProps) {
  const [steps, setSteps] = useState(0);
  const { shown, leftChars } = useMemo(
    () => cutText(text, SHOWN_CHARS + steps * MORE_CHARS, steps === 0 ? lines : lines + steps * MORE_LINES),
    [text, steps, lines],
  );
  return (
    <div className={isProse ? undefined : 'code-box'}>
      <pre className={isProse ? 'prose' : 'code'} aria-label={label}>
        <CodeText text={shown} language={language} />
      </pre>
      {(leftChars > 0 || steps > 0) && (
        <div className="code-more">
          {leftChars > 0 && (
            <button type="button" className="text-button" onClick={() => setSteps(steps === 0 ? 1 : steps * 2)}>
              {moreWords(text, shown.length, leftChars)}
            </button>
          )}
          {steps > 0 && (
            <button type="button" className="text-button" onClick={() => setSteps(0)}>
              {TEXTS.call.fewer}
            </button>
          )}
        </div>
      )}
    </div>
  );
}

/** The end of a text that grows. */
export function TailText({ text, droppedChars, lines = 16 }: { text: string; droppedChars: number; lines?: number }) {
  const end = text.replace(/\n+$/, '');
  let start = end.length;
  for (let count = 0; count < lines && start >= 0; count++) start = end.lastIndexOf('\n', start - 1);
  const shown = end.slice(Math.max(start + 1, end.length - SHOWN_CHARS));
  const left = droppedChars + end.length - shown.length;
  return (
    <div className="code-box live">
      {left > 0 && <p className="code-note">{TEXTS.call.earlierChars(quantity(left))}</p>}
      <pre className="code">
        <CodeText text={shown} language={undefined} />
      </pre>
    </div>
  );
}

function CodeText({ text, language }: { readonly text: string; readonly language: string | undefined }) {
  return useMemo(() => {
    if (hasAnsi(text)) return parseAnsi(text).map(spanOf);
    if (language === undefined || text.length > MAX_COLOURED_CHARS) return visible(text);
    return visible(text)
      .split('\n')
      .flatMap((line, index) => [
        ...(index === 0 ? [] : ['\n']),
        <CodeLine key={index} text={line} language={language} />,
      ]);
  }, [text, language]);
}

/** A line of code in colours. Numbers that Read puts in front of lines stay pale. */
export function CodeLine({ text, language }: { readonly text: string; readonly language: string | undefined }) {
  const [, number = '', code = ''] = /^(\s*\d+\t)?(.*)$/s.exec(text) ?? [];
  return (
    <>
      {number && <span className="line-number">{number}</span>}
      {tokensOf(code, language).map((token, index) =>
        token.kind === 'plain' ? (
          token.text
        ) : (
          <span key={index} className={`token-${token.kind}`}>
            {token.text}
          </span>
        ),
      )}
    </>
  );
}

function spanOf({ text, style }: AnsiSpan, index: number) {
  return style === '' ? (
    visible(text)
  ) : (
    <span key={index} className={style}>
      {visible(text)}
    </span>
  );
}

function moreWords(text: string, shownChars: number, leftChars: number): string {
  if (leftChars > 10_000) return TEXTS.call.moreChars(quantity(leftChars));
  const lines = text.slice(shownChars).split('\n').length - (text.endsWith('\n') ? 1 : 0);
  return lines > 0 ? TEXTS.call.moreLines(lines) : TEXTS.call.moreChars(quantity(leftChars));
}
