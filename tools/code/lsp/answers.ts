/**
 * Turns the answers of a language server into text. A server runs code of the workspace, so its answers are checked, and
 * places that the session may not read are left out.
 */
import { isAbsolute, relative } from 'node:path';
import * as z from 'zod';
import { isInsideFolder } from '../../../config/containment.ts';
import { showText } from '../../../src/base/hidden-characters.ts';
import { resolveRealPath } from '../../../src/files/real-path.ts';
import { pathOf } from './language-server.ts';

/** Places, symbols or diagnostics that are listed; the rest is counted. */
const MAX_LISTED = 200;

/** Levels of symbols inside symbols. */
const MAX_DEPTH = 12;

const Position = z.looseObject({ line: z.int().min(0), character: z.int().min(0) });
const Range = z.looseObject({ start: Position });
const Location = z.looseObject({ uri: z.string(), range: Range });
const LocationLink = z.looseObject({ targetUri: z.string(), targetSelectionRange: Range });
const Locations = z.union([
  z.null().transform(() => []),
  z.array(z.union([Location, LocationLink])),
  Location.transform((location) => [location]),
]);
const MarkedText = z.union([z.string(), z.looseObject({ value: z.string() })]);
const Hover = z.looseObject({ contents: z.union([MarkedText, z.array(MarkedText)]) }).nullable();
const Diagnostic = z.looseObject({
  range: Range,
  message: z.string(),
  severity: z.int().optional(),
  code: z.union([z.string(), z.number()]).optional(),
  source: z.string().optional(),
});
const SymbolEntry = z.looseObject({
  name: z.string(),
  kind: z.int(),
  selectionRange: Range.optional(),
  location: z.looseObject({ range: Range }).optional(),
  children: z.array(z.unknown()).optional(),
});
const Symbols = z.array(SymbolEntry).nullable();

/** Options of showing the paths of an answer. */
export interface ShownPaths {
  readonly cwd: string;
  /** Report whether an absolute path must not be revealed. */
  isHidden(path: string): boolean;
}

/** A listing and its number of entries. */
export interface Listing {
  readonly text: string;
  readonly count: number;
}

/** List places as `path:line:character`, each once. @throws {z.ZodError} For what is no list of places. */
export function listPlaces(answer: unknown, shown: ShownPaths): Listing {
  const places = Locations.parse(answer).flatMap((found) => {
    const [uri, { start }] =
      'targetUri' in found
        ? [found.targetUri as string, (found as z.output<typeof LocationLink>).targetSelectionRange]
        : [(found as z.output<typeof Location>).uri, (found as z.output<typeof Location>).range];
    const path = pathOf(uri);
    if (path === undefined || isHidden(path, shown)) return [];
    return [`${shownPath(path, shown.cwd)}:${start.line + 1}:${start.character + 1}`];
  });
  return listed([...new Set(places)]);
}

/** The text of a hover; '' if there is none. @throws {z.ZodError} */
export function hoverText(answer: unknown): string {
  const { contents } = Hover.parse(answer) ?? { contents: '' };
  return [contents]
    .flat()
    .map((part) => (typeof part === 'string' ? part : part.value).trim())
    .filter((part) => part !== '')
    .join('\n\n');
}

/** List the symbols of a file, those inside others indented. @throws {z.ZodError} */
export function listSymbols(answer: unknown): Listing {
  const lines: string[] = [];
  const add = (symbols: readonly z.output<typeof SymbolEntry>[], depth: number): void => {
    for (const { name, kind, selectionRange, location, children = [] } of symbols) {
      const line = (selectionRange ?? location?.range)?.start.line;
      const place = line === undefined ? '' : `, line ${line + 1}`;
      lines.push(`${'  '.repeat(depth)}${SYMBOL_KINDS[kind] ?? 'symbol'} ${showText(name)}${place}`);
      if (depth < MAX_DEPTH) add(z.array(SymbolEntry).parse(children), depth + 1);
    }
  };
  add(Symbols.parse(answer) ?? [], 0);
  return listed(lines);
}

/** List diagnostics, in the order of lines. @throws {z.ZodError} */
export function listDiagnostics(items: readonly unknown[]): Listing {
  const found = z.array(Diagnostic).parse(items);
  const lines = found
    .toSorted((one, other) => one.range.start.line - other.range.start.line)
    .map(({ range: { start }, severity = 1, message, source = '', code = '' }) => {
      const origin = [source, code].filter((part) => part !== '').join(' ');
      const place = `${start.line + 1}:${start.character + 1}`;
      return `${place} ${SEVERITIES[severity] ?? 'error'}: ${message}${origin === '' ? '' : ` (${origin})`}`;
    });
  return listed(lines);
}

const SEVERITIES: Readonly<Record<number, string>> = { 1: 'error', 2: 'warning', 3: 'information', 4: 'hint' };

/** By the numbers of the protocol, from 1 on. */
const SYMBOL_KINDS: readonly (string | undefined)[] = [
  undefined, 'file', 'module', 'namespace', 'package', 'class', 'method', 'property', 'field', 'constructor', 'enum',
  'interface', 'function', 'variable', 'constant', 'string', 'number', 'boolean', 'array', 'object', 'key', 'null',
  'enum member', 'struct', 'event', 'operator', 'type parameter',
]; // prettier-ignore

function listed(lines: readonly string[]): Listing {
  const omitted = lines.length - MAX_LISTED;
  const text = [...lines.slice(0, MAX_LISTED), ...(omitted > 0 ? [`and ${omitted} more`] : [])].join('\n');
  return { text, count: lines.length };
}

/** A path is hidden if its link or the file behind it is. */
function isHidden(path: string, shown: ShownPaths): boolean {
  if (!isAbsolute(path) || shown.isHidden(path)) return true;
  const found = resolveRealPath(path);
  return 'real' in found && shown.isHidden(found.real);
}

function shownPath(path: string, cwd: string): string {
  return showText(isInsideFolder(cwd, path) ? relative(cwd, path) : path);
}
