/**
 * Read and Edit rules reach every tool that declares its paths; other rules with a path reach their own tool.
 *
 * Denying and asking try the spelled and the real path, and globs; allowing tries the real path alone.
 */
import type { LocatedPath, PathUse } from '../tool/located-path.ts';
import type { RuleBehavior, ToolPermissionContext } from '../wire/permission-context.ts';
import type { Tool } from '../tool/tool.ts';
import { pathRules } from './path-rules.ts';
import { rulesFor, rulesNamed, type SourcedRule, type ToolRules } from './rule-index.ts';
import { isPathRuleName, PATH_RULE_NAMES } from './rule-names.ts';

/** One path of a call: what the tool said, and what was found there. */
export interface JudgedPath {
  readonly use: PathUse;
  readonly located: LocatedPath;
}

/** What the path gate is asked about. */
export interface PathQuestion {
  readonly permissions: ToolPermissionContext;
  /** Absolute; what relative patterns start from. */
  readonly root: string;
  readonly tool: Tool;
  readonly paths: readonly JudgedPath[];
}

/** The first deny or ask rule that any of the paths runs into. */
export function hitPathRule(question: PathQuestion, behavior: Exclude<RuleBehavior, 'allow'>): SourcedRule | undefined {
  for (const path of question.paths) {
    for (const rules of listsFor(question, behavior, path.use)) {
      const compiled = pathRules(rules.specs, question.root, 'deny');
      const { spelled, real } = path.located;
      const spec =
        compiled.match(spelled) ??
        (real === spelled ? undefined : compiled.match(real)) ??
        compiled.matchGlob(spelled) ??
        (path.use.isWhole ? compiled.matchTree(spelled) : undefined);
      if (spec !== undefined) return rules.bySpec.get(spec);
    }
  }
  return undefined;
}

/**
 * The first deny or ask rule that could match what a path stands for: a file below a folder that is gone
 * through, or one that a glob finds. Nobody looked, so this is no hit.
 */
export function possiblePathRule(question: PathQuestion): (SourcedRule & Pick<JudgedPath, 'use'>) | undefined {
  for (const { use, located } of question.paths) {
    for (const behavior of ['deny', 'ask'] as const) {
      for (const rules of listsFor(question, behavior, use)) {
        const compiled = pathRules(rules.specs, question.root, 'deny');
        const folder = located.spelled.split(/\/[^/]*[*?[]/, 1)[0] || '/';
        const seen = use.names && located.folderNames && { names: use.names, folders: located.folderNames };
        const below = use.isTree
          ? (compiled.matchBelow(folder, seen) ??
            (located.real === folder ? undefined : compiled.matchBelow(located.real, seen)))
          : undefined;
        const spec = below ?? compiled.matchWithin(located.spelled, use.access);
        const rule = spec === undefined ? undefined : rules.bySpec.get(spec);
        if (rule) return { ...rule, use };
      }
    }
  }
  return undefined;
}

/** The allow rule of the first path, where every path has one; undefined where any has none, or there are none. */
export function coveringPathRule(question: PathQuestion): SourcedRule | undefined {
  const found = question.paths.map((path) => {
    for (const rules of listsFor(question, 'allow', path.use)) {
      const spec = pathRules(rules.specs, question.root, 'allow').match(path.located.real);
      if (spec !== undefined) return rules.bySpec.get(spec);
    }
    return undefined;
  });
  return found.every((rule) => rule !== undefined) ? found[0] : undefined;
}

/**
 * Whether a deny rule hides an absolute path from reading: what `ToolUseContext.isReadDenied` is made of.
 *
 * Ask it about the spelled and the real path both.
 */
export function readDenial(permissions: ToolPermissionContext, root: string): (absolutePath: string) => boolean {
  return denial(rulesNamed(permissions, 'deny', PATH_RULE_NAMES.read).specs, root);
}

/** Whether a deny rule may hide anything below an absolute folder from reading. */
export function readDenialBelow(permissions: ToolPermissionContext, root: string): (absoluteFolder: string) => boolean {
  const { specs } = rulesNamed(permissions, 'deny', PATH_RULE_NAMES.read);
  if (specs.length === 0) return () => false;
  const compiled = pathRules(specs, root, 'deny');
  return (absoluteFolder) => compiled.matchBelow(absoluteFolder) !== undefined;
}

/** Absolute paths that deny rules about reading spell. @see PathRules.places */
export function readDenialPlaces(permissions: ToolPermissionContext, root: string): () => readonly string[] {
  const { specs } = rulesNamed(permissions, 'deny', PATH_RULE_NAMES.read);
  return () => (specs.length === 0 ? [] : pathRules(specs, root, 'deny').places());
}

/** Whether a deny rule forbids changing an absolute path. */
export function writeDenial(permissions: ToolPermissionContext, root: string): (absolutePath: string) => boolean {
  return denial(rulesNamed(permissions, 'deny', PATH_RULE_NAMES.write).specs, root);
}

function denial(specs: readonly string[], root: string): (absolutePath: string) => boolean {
  if (specs.length === 0) return () => false;
  const compiled = pathRules(specs, root, 'deny');
  return (absolutePath) => compiled.match(absolutePath) !== undefined;
}

/** The rule that would allow this path, as `Read(//etc/hosts)` or `Edit(/src/app.ts)`. */
export function allowingPathRule(path: JudgedPath, root: string): string {
  const { real } = path.located;
  const spelled = real.startsWith(`${root}/`) ? real.slice(root.length) : `/${real}`;
  return `${PATH_RULE_NAMES[path.use.access]}(${spelled.replace(/[\\*?[\]!# ]/g, '\\$&')})`;
}

/** The lists that judge one path: those of its access, and the tool's own where it is not one of those two. */
function listsFor(question: PathQuestion, behavior: RuleBehavior, use: PathUse): readonly ToolRules[] {
  const general = rulesNamed(question.permissions, behavior, PATH_RULE_NAMES[use.access]);
  const isShared = isPathRuleName(question.tool.name);
  // A tool with a matcher of its own gives its specs another meaning than a path.
  if (isShared || question.tool.preparePermissionMatcher) return general.specs.length > 0 ? [general] : [];
  const own = rulesFor(question.permissions, behavior, question.tool);
  return [general, own].filter((rules) => rules.specs.length > 0);
}
