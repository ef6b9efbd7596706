/**
 * Exports a session's log as one text: JSON with all frames, or Markdown for people.
 */
import type { LoggedFrame } from '../log/frame-log.ts';
import type { Frame } from '../wire/frames.ts';
import { resultText } from '../wire/result-text.ts';
import type { LogGap } from '../wire/session-replies.ts';
import { describeSession } from './directory/describe-session.ts';
import type { SessionCore } from './session-core.ts';

/** Formats of an export. */
export const EXPORT_FORMATS = ['json', 'markdown'] as const;

/** One of them. */
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Calls of which the number is remembered until their result; the number of an older one is left out. */
const MAX_NUMBERED = 1_024;

/** Yield an export piece by piece, as fast as the reader takes it. @throws {GauntletError} `log_unavailable` */
export async function* exportSession(core: SessionCore, format: ExportFormat): AsyncGenerator<string> {
  const gaps: LogGap[] = [];
  const pages = core.services.log.read(core.id, 0, { live: false, onGap: (gap) => void gaps.push(gap) });
  if (format === 'json') yield* jsonExport(core, pages, gaps);
  else yield* markdownExport(core, pages, gaps);
}

type Pages = AsyncIterable<readonly LoggedFrame[]>;

/** Frames are JSON already, so they are joined without parsing. */
async function* jsonExport(core: SessionCore, pages: Pages, gaps: readonly LogGap[]): AsyncGenerator<string> {
  const head = { session: describeSession(core), epoch: core.services.log.epoch };
  yield `${JSON.stringify(head).slice(0, -1)},"frames":[`;
  let separator = '\n';
  for await (const page of pages) {
    yield page.map(({ text }) => `${separator}${((separator = ',\n'), text)}`).join('');
  }
  yield `\n],"gaps":${JSON.stringify(gaps)}}\n`;
}

async function* markdownExport(core: SessionCore, pages: Pages, gaps: readonly LogGap[]): AsyncGenerator<string> {
  const { title = 'Session', session_id: id, cwd, mode, created_at: begun } = describeSession(core);
  yield `# ${oneLine(title)}\n\n- Session: ${code(id)}\n- Folder: ${code(cwd)}\n- Mode: ${mode}\n- Begun: ${begun}\n`;
  const numbers = new Map<string, number>();
  let count = 0;
  const numberOf = (toolUseId: string) => {
    const number = numbers.get(toolUseId);
    return number === undefined ? '' : ` ${number}`;
  };
  for await (const page of pages) {
    const texts = page.map(({ type, frame }) => {
      if (frame.type === 'tool_use') {
        for (const oldest of numbers.keys()) if (numbers.size >= MAX_NUMBERED) numbers.delete(oldest);
        numbers.set(frame.tool_use.id, (count += 1));
      }
      const text = WRITTEN.has(type) ? markdownOf(frame, numberOf) : '';
      if (frame.type === 'result') numbers.delete(frame.tool_use_id);
      return text;
    });
    yield texts.join('');
  }
  for (const { from, to, reason } of gaps) yield `\nFrames ${from} to ${to} are missing (${reason}).\n`;
}

/** Frames that an export for people has; the others tell how calls went on. */
const WRITTEN: ReadonlySet<Frame['type']> = new Set([
  'tool_use',
  'result',
  'permission_resolved',
  'change',
  'undo',
  'task_ended',
  'notice',
]);

function markdownOf(frame: Frame, numberOf: (toolUseId: string) => string): string {
  switch (frame.type) {
    case 'tool_use': {
      const { id, name, input } = frame.tool_use;
      return `\n## Call${numberOf(id)}: ${code(name)}\n\n${frame.ts}\n\n${fenced(JSON.stringify(input, null, 2), 'json')}`;
    }
    case 'result': {
      const { status, error_code: error, duration_ms: took } = frame.call;
      const how = error === undefined ? status : `${status}, ${error}`;
      const images = Array.isArray(frame.tool_result.content)
        ? frame.tool_result.content.filter(({ type }) => type !== 'text').length
        : 0;
      const more = images === 0 ? '' : `\n(${images} ${images === 1 ? 'block' : 'blocks'} without text)\n`;
      const head = `\n**Result of call${numberOf(frame.tool_use_id)}** (${how}, ${Math.round(took)} ms)\n\n`;
      return head + fenced(resultText(frame.tool_result.content)) + more;
    }
    case 'permission_resolved': {
      const outcome = frame.behavior === 'allow' ? 'Allowed' : 'Denied';
      return `\n${outcome} by ${code(frame.by)}: ${oneLine(frame.reason)}\n`;
    }
    case 'change':
      return `\nCall${numberOf(frame.tool_use_id)} ${frame.kind} ${code(frame.path)}\n`;
    case 'undo':
      return `\nUndone by ${code(frame.by)}: ${frame.files.map(({ path }) => code(path)).join(', ')}\n`;
    case 'task_ended':
      return `\nTask ${code(frame.task_id)} ended: ${frame.status}\n`;
    case 'notice':
      return `\n${frame.level}: ${oneLine(frame.message)}\n`;
    default:
      return '';
  }
}

/** Fence a text so that nothing in it can end the fence. */
function fenced(text: string, language = ''): string {
  const longest = [...text.matchAll(/`+/g)].reduce((most, [ticks]) => Math.max(most, ticks.length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}${text.endsWith('\n') ? '' : '\n'}${fence}\n`;
}

/** Write a short text as code, so that it is no markup. */
function code(text: string): string {
  const line = text.replace(/[\r\n]+/g, ' ');
  const longest = [...line.matchAll(/`+/g)].reduce((most, [ticks]) => Math.max(most, ticks.length), 0);
  const ticks = '`'.repeat(longest + 1);
  return longest === 0 ? `${ticks}${line}${ticks}` : `${ticks} ${line} ${ticks}`;
}

/** Escape what Markdown and HTML read as markup. */
function oneLine(text: string): string {
  return text.replace(/[\r\n]+/g, ' ').replace(/[\\`*_{}[\]<>()#!|&~]/g, '\\$&');
}
