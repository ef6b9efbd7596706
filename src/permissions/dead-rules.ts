/**
 * Finds rules that can never decide anything, so that a guard or grant their author expects does not exist.
 *
 * The search is conservative: every rule reported is certainly dead, but not every dead rule is reported.
 */
import type { RuleBehavior, RuleSource, ToolPermissionContext } from '../wire/permission-context.ts';
import { RULE_SOURCES } from '../wire/permission-names.ts';
import { parseRule, type PermissionRule } from './rule.ts';
import { isPathRuleName, PATH_RULE_NAMES } from './rule-names.ts';
import { matchesWildcard } from '../base/wildcard.ts';

/** A rule that never decides. */
export interface DeadRule {
  readonly rule: string;
  readonly source: RuleSource;
  readonly behavior: RuleBehavior;
  /** Reason as the end of a sentence: `there is no tool "Bsah"`. */
  readonly why: string;
}

interface PlacedRule extends PermissionRule {
  readonly source: RuleSource;
  readonly behavior: RuleBehavior;
}

/** Behaviors in order of precedence: a deny rule decides before the others. */
const STRENGTH: readonly RuleBehavior[] = ['deny', 'ask', 'allow'];

/** Upper bound of the rules compared with each other while a call waits. */
const MAX_COMPARED_RULES = 500;

/** Upper bound of the broad rules of one tool that others are compared with; further ones are ignored. */
const MAX_BROAD_RULES = 200;

/**
 * Find dead rules.
 *
 * @param toolNames Names and aliases of all tools, and `mcp__server` for each server, whose tools may not be known yet.
 * @param asked Rules to report on while calls wait; with many rules in the context the comparison is skipped.
 */
export function deadRules(
  context: ToolPermissionContext,
  toolNames: Iterable<string>,
  asked?: ReadonlySet<string>,
): readonly DeadRule[] {
  const known = new Set([...toolNames, ...Object.values(PATH_RULE_NAMES), 'mcp']);
  const rules = placedRules(context);
  const byTool = new Map<string, PlacedRule[]>();
  for (const rule of rules) {
    const list = byTool.get(rule.toolName);
    if (list) list.push(rule);
    else byTool.set(rule.toolName, [rule]);
  }
  const isCompared = !asked || rules.length <= MAX_COMPARED_RULES;
  const shadows = new Map(isCompared ? [...byTool].map(([toolName, list]) => [toolName, shadowFinder(list)]) : []);
  const wanted = asked ? rules.filter(({ text }) => asked.has(text)).slice(0, MAX_COMPARED_RULES) : rules;
  return wanted.flatMap((rule): readonly DeadRule[] => {
    const why = unknownTool(rule.toolName, known) ?? impossibleSpec(rule) ?? shadows.get(rule.toolName)?.(rule);
    const { text, source, behavior } = rule;
    return why === undefined ? [] : [{ rule: text, source, behavior, why }];
  });
}

function placedRules({ rules }: ToolPermissionContext): readonly PlacedRule[] {
  return STRENGTH.flatMap((behavior) =>
    RULE_SOURCES.flatMap((source) =>
      (rules[source]?.[behavior] ?? []).map((text) => ({ ...parseRule(text), source, behavior })),
    ),
  );
}

function unknownTool(name: string, known: ReadonlySet<string>): string | undefined {
  if (known.has(name)) return undefined;
  const isServers =
    name.startsWith('mcp__') &&
    [...known].some((server) => server.startsWith('mcp__') && name.startsWith(`${server}__`));
  if (isServers) return undefined;
  const alike = [...known].find((other) => other.toLowerCase() === name.toLowerCase());
  const hint = alike === undefined ? '' : `; "${alike}" is one`;
  return name.startsWith('mcp__')
    ? `no MCP server and no tool is called "${name}"${hint}`
    : `there is no tool "${name}"${hint}`;
}

function impossibleSpec({ toolName, spec, behavior }: PlacedRule): string | undefined {
  if (spec === undefined) return undefined;
  if (isPathRuleName(toolName)) {
    return spec.split('/').includes('..') ? 'paths are compared without "..": write where it leads' : undefined;
  }
  const isJoined = behavior === 'allow' && spec.endsWith(':*') && /[;&|\n]/.test(spec);
  return isJoined ? 'each part of a joined command needs a rule of its own' : undefined;
}

/** Create a function that finds the rule which decides first for all calls of another rule. */
function shadowFinder(all: readonly PlacedRule[]): (rule: PlacedRule) => string | undefined {
  const rules = all.filter((rule) => impossibleSpec(rule) === undefined);
  const broad = rules.filter(({ spec }) => spec !== undefined && isBroad(spec)).slice(0, MAX_BROAD_RULES);
  const bare = rules.filter(({ spec }) => spec === undefined).slice(0, MAX_BROAD_RULES);
  const exact = new Map<string, PlacedRule>();
  for (const rule of rules) if (rule.spec !== undefined && !exact.has(rule.spec)) exact.set(rule.spec, rule);

  return (rule) => {
    const same = rule.spec === undefined ? undefined : exact.get(rule.spec);
    const candidates = [...bare, ...(same ? [same] : []), ...broad];
    const shadow = candidates.find((other) => other !== rule && isStronger(other, rule) && coversAll(other, rule));
    return shadow && `${shadow.behavior} rule "${shadow.text}" of ${shadow.source} comes first`;
  };
}

/** Report whether a rule takes precedence, or is equally strong and broader. Duplicates are no mistake. */
function isStronger(other: PlacedRule, rule: PlacedRule): boolean {
  const difference = STRENGTH.indexOf(rule.behavior) - STRENGTH.indexOf(other.behavior);
  return difference > 0 || (difference === 0 && other.spec !== rule.spec);
}

function isBroad(spec: string): boolean {
  return spec.includes('*');
}

function coversAll(broad: PlacedRule, { spec, toolName }: PlacedRule): boolean {
  if (broad.spec === undefined) return true;
  if (spec === undefined) return false;
  if (broad.spec === spec) return true;
  return isPathRuleName(toolName) ? coversPaths(broad.spec, spec) : coversCommands(broad.spec, spec);
}

/** Report whether a path pattern covers another: `src/**` covers everything that begins with `src/`. */
function coversPaths(broad: string, narrow: string): boolean {
  const folder = /^((?:\/\/|~\/|\.?\/)?[^*?[\]\\]+\/)\*\*$/.exec(broad)?.[1];
  if (folder === undefined) return false;
  // Remove prefixes that mean the root or nothing, so that equal places have equal spellings.
  const plain = (path: string) => path.replace(/^\.?\/(?!\/)/, '');
  return plain(narrow).startsWith(plain(folder)) && !/[\\]/.test(narrow);
}

/**
 * Report whether a command pattern covers another: a prefix covers what begins with its words, a wildcard what it
 * matches, with stars of the other pattern as text.
 */
function coversCommands(broad: string, narrow: string): boolean {
  const isPrefix = narrow.endsWith(':*');
  const text = (isPrefix ? narrow.slice(0, -2) : narrow).trim();
  if (broad.endsWith(':*')) {
    const head = broad.slice(0, -2).trim();
    // A star in the head may match the end of a word.
    return !head.includes('*') && (text === head || text.startsWith(`${head} `));
  }
  return matchesWildcard(broad, text) && (!isPrefix || matchesWildcard(broad, `${text} *`));
}
