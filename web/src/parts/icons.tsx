/**
 * The pictures of the console, drawn in the colour of the text around them.
 */
import type { CallTone } from '../model/call.ts';
import type { ViewName } from '../model/deep-link.ts';

/** Outlines on a grid of 16, by name. */
const PATHS = {
  sessions: 'M2.5 3.5h11M2.5 8h11M2.5 12.5h7',
  questions:
    'M8 1.8a6.2 6.2 0 0 1 0 12.4c-1 0-2-.2-2.8-.7L2 14.200l.8-3A6.2 6.2 0 0 1 8 1.800ZM6.3 6.300a1.7 1.7 0 1 1 2.5 1.500c-.6.3-.8.6-.8 1.200M8 11.200v.1',
  try: 'M4.5 2.800v10.400l8.5-5.200Z',
  explain: 'M8 1.500a4.5 4.5 0 0 1 2.5 8.200v1.800h-5V9.700A4.5 4.5 0 0 1 8 1.500ZM6 14.300h4',
  search: 'M7 2.500a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9ZM10.3 10.300l3.7 3.7',
  server: 'M2.5 2.500h11v4.500h-11ZM2.5 9h11v4.500h-11ZM5 4.800v.1M5 11.200v.1',
  ok: 'M3 8.500l3.3 3.300L13 4.8',
  error: 'M4 4l8 8M12 4l-8 8',
  denied: 'M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2ZM3.8 3.800l8.4 8.4',
  waiting: 'M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2ZM6.3 5.700v4.600M9.7 5.700v4.6',
  running: 'M8 2a6 6 0 1 1-6 6',
  queued: 'M4 8v.1M8 8v.1M12 8v.1',
  stopped: 'M4.5 4.500h7v7h-7Z',
  chevron: 'M6 3.500L10.5 8 6 12.5',
  back: 'M10 3.500L5.5 8l4.5 4.5',
  plus: 'M8 3v10M3 8h10',
  close: 'M4 4l8 8M12 4l-8 8',
  more: 'M3.5 8v.1M8 8v.1M12.5 8v.1',
  down: 'M8 3v10M4 9.500L8 13l4-3.5',
  warning: 'M8 2l6.3 11.500H1.700ZM8 6.500v3.200M8 11.600v.1',
  agent: 'M4 6.500h8v6H4ZM8 6.500V3.500M6.3 9.300v.1M9.7 9.300v.1M2.3 9v1M13.7 9v1',
  link: 'M6.5 9.500l3-3M7 5l1.5-1.500a2.5 2.5 0 0 1 3.8 3.500L10.8 8.600M9 11l-1.5 1.500a2.5 2.5 0 0 1-3.8-3.500L5.2 7.4',
  keyboard: 'M1.5 4h13v8h-13ZM4 6.500v.1M6.7 6.500v.1M9.3 6.500v.1M12 6.500v.1M5 9.500h6',
  theme: 'M8 2a6 6 0 1 1 0 12ZM8 2a6 6 0 0 0 0 12',
  bell: 'M4 11V7.500a4 4 0 0 1 8 0V11l1 1.200H3ZM6.8 14h2.4',
} as const;

export type IconName = keyof typeof PATHS;

/** A picture. It says nothing to who cannot see it: a text beside it does. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg className={`icon icon-${name}`} width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** Pictures of views. */
export const VIEW_ICONS: Readonly<Record<ViewName, IconName>> = {
  sessions: 'sessions',
  questions: 'questions',
  try: 'try',
  explain: 'explain',
  search: 'search',
  server: 'server',
};

/** Pictures of how calls stand. */
export const TONE_ICONS: Readonly<Record<CallTone, IconName>> = {
  waiting: 'waiting',
  running: 'running',
  ok: 'ok',
  denied: 'denied',
  error: 'error',
  stopped: 'stopped',
  queued: 'queued',
};
