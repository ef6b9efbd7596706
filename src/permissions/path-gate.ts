/**
 * Applies rules to paths: Read and Edit rules to every tool that declares its paths, other path rules to their own
 * tool.
 *
 * Deny and ask rules are matched against the spelled path, the real path, and globs; allow rules against the real path
 * only.
 */
import type { LocatedPath, PathUse } from '../tool/located-path.ts';
import type { RuleBehavior, ToolPermissionContext } from '../wire/permission-context.ts';
import type { Tool } from '../tool/tool.ts';
import { pathRules } from './path-rules.ts';
import { rulesFor, rulesNamed, type SourcedRule, type ToolRules } from './rule-index.ts';
import { isPathRuleName, PATH_RULE_NAMES } from './rule-names.ts';

/** One path of a call, as declared by the tool and as located on the disk. */
export interface JudgedPath {
  readonly use: PathUse;
  readonly located: LocatedPath;
}

/** Query of the path gate. */
export interface PathQuestion {
  readonly permissions: ToolPermissionContext;
  /** Absolute; base of relative patterns. */
  readonly root: string;
  readonly tool: Tool;
  readonly paths: readonly JudgedPath[];
}

/** Find the first deny or ask rule that matches any of the paths. */
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
 * Find the first deny or ask rule that may match a file below a searched folder, or one that a glob finds. The disk is
 * not examined, so this counts as possible, not certain.
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

/** Return the allow rule of the first path if every path has one; undefined otherwise, or if there are no paths. */
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
 * Create the test for paths that a deny rule hides from reading, used by `ToolUseContext.isReadDenied`.
 *
 * Callers test both the spelled and the real path.
 */
export function readDenial(permissions: ToolPermissionContext, root: string): (absolutePath: string) => boolean {
  return denial(rulesNamed(permissions, 'deny', PATH_RULE_NAMES.read).specs, root);
}

/** Create the test for folders below which a deny rule may hide something from reading. */
export function readDenialBelow(permissions: ToolPermissionContext, root: string): (absoluteFolder: string) => boolean {
  const { specs } = rulesNamed(permissions, 'deny', PATH_RULE_NAMES.read);
  if (specs.length === 0) return () => false;
  const compiled = pathRules(specs, root, 'deny');
  return (absoluteFolder) => compiled.matchBelow(absoluteFolder) !== undefined;
}

/** Return the absolute paths that deny rules about reading spell. @see PathRules.places */
export function readDenialPlaces(permissions: ToolPermissionContext, root: string): () => readonly string[] {
  const { specs } = rulesNamed(permissions, 'deny', PATH_RULE_NAMES.read);
  return () => (specs.length === 0 ? [] : pathRules(specs, root, 'deny').places());
}

/** Create the test for absolute paths that a deny rule protects from changes. */
export function writeDenial(permissions: ToolPermissionContext, root: string): (absolutePath: string) => boolean {
  return denial(rulesNamed(permissions, 'deny', PATH_RULE_NAMES.write).specs, root);
}

function denial(specs: readonly string[], root: string): (absolutePath: string) => boolean {
  if (specs.length === 0) return () => false;
  const compiled = pathRules(specs, root, 'deny');
  return (absolutePath) => compiled.match(absolutePath) !== undefined;
}

/** Format the rule that would allow this path, as `Read(//etc/hosts)` or `Edit(/src/app.ts)`. */
export function allowingPathRule(path: JudgedPath, root: string): string {
  const { real } = path.located;
  const spelled = real.startsWith(`${root}/`) ? real.slice(root.length) : `/${real}`;
  return `${PATH_RULE_NAMES[path.use.access]}(${spelled.replace(/[\\*?[\]!# ]/g, '\\$&')})`;
}

/**
 * Return the rule lists that apply to one path: those of its access, and those of the tool unless it is Read or Edit.
 */
function listsFor(question: PathQuestion, behavior: RuleBehavior, use: PathUse): readonly ToolRules[] {
  const general = rulesNamed(question.permissions, behavior, PATH_RULE_NAMES[use.access]);
  const isShared = isPathRuleName(question.tool.name);
  // The specs of a tool with its own matcher are not paths.
  if (isShared || question.tool.preparePermissionMatcher) return general.specs.length > 0 ? [general] : [];
  const own = rulesFor(question.permissions, behavior, question.tool);
  return [general, own].filter((rules) => rules.specs.length > 0);
}
