/**
 * A long text of the server, opened by range: a spilled result, or the output of a task.
 */
import { useState } from 'react';
import { quantity } from '../model/quantities.ts';
import type { CallSummary, TextPage } from '../model/wire.ts';
import { TEXTS } from '../texts.ts';
import { useConsole } from './console.tsx';
import { Button, Dialog, Problem } from './controls.tsx';
import { useLoaded } from './hooks.ts';
import { Code } from './plain-text.tsx';

const PAGE_CHARS = 50_000;

/** The way to the whole text of a result. */
export function SpilledText({ sessionId, call }: { readonly sessionId: string; readonly call: CallSummary }) {
  const path = `/sessions/${encodeURIComponent(sessionId)}/results/${encodeURIComponent(call.tool_use_id)}`;
  return (
    <p className="note">
      {TEXTS.call.spilled(quantity(call.spilled?.chars ?? call.result_chars))}{' '}
      <LongText path={path} words={TEXTS.call.openSpilled} />
    </p>
  );
}

/** A button that opens a long text. */
export function LongText({ path, words }: { readonly path: string; readonly words: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button look="quiet" onClick={() => setOpen(true)}>
        {words}
      </Button>
      <Dialog title={words} isOpen={isOpen} isWide onClose={() => setOpen(false)}>
        {isOpen && <Pages path={path} />}
      </Dialog>
    </>
  );
}

function Pages({ path }: { readonly path: string }) {
  const { server } = useConsole();
  const [offset, setOffset] = useState(0);
  const { value, problem } = useLoaded(
    (signal) => server.request<TextPage>('GET', `${path}?offset_chars=${offset}&limit_chars=${PAGE_CHARS}`, { signal }),
    [path, offset],
  );
  if (problem) return <Problem>{problem}</Problem>;
  if (!value) return <p>{TEXTS.common.loading}</p>;
  const end = value.offset_chars + value.text.length;
  return (
    <>
      <nav className="pages">
        <Button disabled={value.offset_chars === 0} onClick={() => setOffset(Math.max(0, offset - PAGE_CHARS))}>
          {TEXTS.call.previousPage}
        </Button>
        <span>{TEXTS.call.pageOf(quantity(value.offset_chars), quantity(end), quantity(value.total_chars))}</span>
        <Button
          disabled={value.next_offset_chars === undefined}
          onClick={() => setOffset(value.next_offset_chars ?? 0)}
        >
          {TEXTS.call.nextPage}
        </Button>
      </nav>
      <Code key={offset} text={value.text} lines={2_000} />
    </>
  );
}
