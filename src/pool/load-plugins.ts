/**
 * Loads plugins: modules that default-export one tool or a list of tools.
 *
 * A plugin is developed outside this repository and need not import anything from it. An invalid one stops the start,
 * with an error that names the plugin, the tool and the member.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Limits } from '../../config/limits.ts';
import { errorMessage, GauntletError } from '../base/errors.ts';
import type { Tool } from '../tool/tool.ts';
import { isReservedName } from '../permissions/rule-names.ts';
import { pluginTool } from './plugin-tool.ts';

/** Time for loading one plugin, which delays the start of the server. */
const LOAD_MS = 30_000;

/** The main file of a plugin, which Node reads whole. */
const MAX_FILE_BYTES = 32 * 1_024 * 1_024;

/** Folder of the plugins, and the tools whose names they may not take. */
export interface PluginOptions {
  /** Absolute folder of the settings file, the base of paths and packages. */
  readonly baseFolder: string;
  readonly builtIns: readonly Tool[];
  readonly limits: Pick<Limits, 'resultChars'>;
  /** A plugin that takes longer to load is refused. */
  readonly loadMs?: number;
}

/** The owner of a name, as the end of a sentence. */
const BUILT_IN = 'a built-in tool';

/**
 * Load plugins in the order of the settings file.
 *
 * @param specifiers Paths (relative to `baseFolder`, or absolute) or package names.
 * @throws {GauntletError} `invalid_setting` for the first invalid plugin.
 */
export async function loadPlugins(specifiers: readonly string[], options: PluginOptions): Promise<readonly Tool[]> {
  const owners = new Map(options.builtIns.flatMap((tool) => namesOf(tool).map((name) => [name, BUILT_IN])));
  const tools: Tool[] = [];
  for (const specifier of specifiers) {
    for (const tool of await loadPlugin(specifier, options)) {
      for (const name of namesOf(tool)) {
        const owner = owners.get(name) ?? (isReservedName(name) ? BUILT_IN : undefined);
        if (owner !== undefined)
          throw refusal(specifier, `its tool "${tool.name}" takes the name "${name}" of ${owner}`);
      }
      for (const name of namesOf(tool)) owners.set(name, `the plugin "${specifier}"`);
      tools.push(tool);
    }
  }
  return Object.freeze(tools);
}

async function loadPlugin(specifier: string, options: PluginOptions): Promise<readonly Tool[]> {
  const module = await importPlugin(specifier, options);
  if (module['default'] === undefined)
    throw refusal(specifier, 'it has no default export: one tool or a list of tools is expected');
  const exported = Array.isArray(module['default']) ? (module['default'] as unknown[]) : [module['default']];
  if (exported.length === 0) throw refusal(specifier, 'its list of tools is empty');
  return exported.map((definition, index) => {
    try {
      return pluginTool(definition, specifier, options.limits.resultChars);
    } catch (error) {
      const name =
        typeof definition === 'object' && definition !== null ? (definition as { name?: unknown }).name : undefined;
      const which = typeof name === 'string' ? `tool "${name}"` : `export ${index}`;
      throw refusal(specifier, `its ${which} is not one: ${errorMessage(error)}`, error);
    }
  });
}

async function importPlugin(
  specifier: string,
  { baseFolder, loadMs = LOAD_MS }: PluginOptions,
): Promise<Readonly<Record<string, unknown>>> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not load within ${loadMs} ms`)), loadMs);
  });
  try {
    const path = modulePath(specifier, baseFolder);
    assertLoadable(path);
    const loading = import(pathToFileURL(path).href) as Promise<Readonly<Record<string, unknown>>>;
    return await Promise.race([loading, late]);
  } catch (error) {
    // Some messages of Node have many lines; the first one states the problem.
    throw refusal(specifier, errorMessage(error).split('\n', 1).join(), error);
  } finally {
    clearTimeout(timer);
  }
}

/** Check a module file before Node reads it completely: a device or a pipe would block the thread for ever. */
function assertLoadable(path: string): void {
  const stats = statSync(path);
  if (!stats.isFile()) throw new Error('it is not a regular file');
  if (stats.size > MAX_FILE_BYTES) throw new Error(`it is larger than ${MAX_FILE_BYTES} bytes`);
}

/** Resolve a module, given as a path or package, to an absolute path. @throws {Error} If it does not exist. */
function modulePath(specifier: string, baseFolder: string): string {
  const path = resolve(baseFolder, specifier);
  if (/^\.{0,2}[/\\]/.test(specifier) || existsSync(path)) return path;
  const require = createRequire(`${baseFolder}${sep}settings.json`);
  try {
    return require.resolve(specifier);
  } catch (error) {
    // Node resolves like `require`, which ignores exports for `import` only.
    const entry =
      (error as NodeJS.ErrnoException).code === 'ERR_PACKAGE_PATH_NOT_EXPORTED' && importEntry(specifier, require);
    if (entry) return entry;
    throw error;
  }
}

/** Return the main entry of a package that exports to `import` only, as an absolute path. */
function importEntry(name: string, require: NodeJS.Require): string | undefined {
  const folders = require.resolve.paths(name) ?? [];
  const folder = folders
    .map((parent) => join(parent, name))
    .find((candidate) => existsSync(join(candidate, 'package.json')));
  if (folder === undefined) return undefined;
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { exports?: unknown };
  const entry = firstImport(exports);
  return entry === undefined ? undefined : resolve(folder, entry);
}

/** Follow `"."` and the conditions that apply to `import`, in the package's order. */
function firstImport(target: unknown): string | undefined {
  if (typeof target === 'string') return target;
  if (typeof target !== 'object' || target === null) return undefined;
  for (const [condition, next] of Object.entries(target)) {
    const entry = ['.', 'import', 'node', 'default'].includes(condition) ? firstImport(next) : undefined;
    if (entry !== undefined) return entry;
  }
  return undefined;
}

function namesOf({ name, aliases = [] }: Pick<Tool, 'name' | 'aliases'>): readonly string[] {
  return [name, ...aliases];
}

function refusal(specifier: string, reason: string, cause?: unknown): GauntletError {
  const message = `Cannot load the plugin "${specifier}": ${reason}. Correct it or take it out of "plugins"`;
  return new GauntletError('invalid_setting', message, { details: { reason: 'plugin' }, cause });
}
