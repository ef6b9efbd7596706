/**
 * Indexes the rules of one context by tool.
 *
 * Built once per context, so that ten thousand rules cost a decision a few lookups. Contexts are frozen, so the index
 * never becomes stale.
 */
import type { RuleBehavior, RuleSource, ToolPermissionContext } from '../wire/permission-context.ts';
import { RULE_SOURCES } from '../wire/permission-names.ts';
import { governingKeys, matchesToolPattern, parseRule, type RuledTool } from './rule.ts';
import { isPathRuleName } from './rule-names.ts';

/** A rule as written, with its source. */
export interface SourcedRule {
  readonly rule: string;
  readonly source: RuleSource;
}

/** The rules of one behavior for one tool. */
export interface ToolRules {
  /** A rule without a spec; the source with the highest precedence first. */
  readonly bare?: SourcedRule;
  /** Specs of the other rules; the same array for the lifetime of the context. */
  readonly specs: readonly string[];
  /** Rules by spec. */
  readonly bySpec: ReadonlyMap<string, SourcedRule>;
}

interface MutableToolRules {
  bare?: SourcedRule;
  specs: string[];
  bySpec: Map<string, SourcedRule>;
}

type RuleIndex = Readonly<Record<RuleBehavior, Map<string, MutableToolRules>>>;

/** Spec of a path rule without one: every absolute path, inside the working directories or not. */
const EVERY_PATH = '//**';

const NONE: ToolRules = Object.freeze({ specs: Object.freeze([]), bySpec: new Map() });
/** Joins the names of a tool; no rule has a line break. */
const JOINT = '\n';

/** Names with `*` among the rules of one behavior. */
const patterns = new WeakMap<ReadonlyMap<string, MutableToolRules>, readonly string[]>();
const indexes = new WeakMap<ToolPermissionContext, RuleIndex>();

/** Return the rules of `behavior` that name this tool, one of its aliases, its MCP server, or a tool that does the same. */
export function rulesFor(permissions: ToolPermissionContext, behavior: RuleBehavior, tool: RuledTool): ToolRules {
  const byName = indexOf(permissions)[behavior];
  if (byName.size === 0) return NONE;
  const keys = [...governingKeys(tool).filter((key) => byName.has(key)), ...patternKeys(byName, tool)];
  const [only] = keys;
  if (only === undefined) return NONE;
  if (keys.length === 1) return byName.get(only) ?? NONE;
  return merged(byName, keys);
}

/** Return the rules of `behavior` that name exactly `toolName`: Read and Edit rules reach other tools this way. */
export function rulesNamed(permissions: ToolPermissionContext, behavior: RuleBehavior, toolName: string): ToolRules {
  return indexOf(permissions)[behavior].get(toolName) ?? NONE;
}

/**
 * Return the bare deny rule (`mcp__server` included) that removes this tool from the pool, so that no model sees it.
 */
export function hidingRule(permissions: ToolPermissionContext, tool: RuledTool): SourcedRule | undefined {
  return rulesFor(permissions, 'deny', tool).bare;
}

/** Return the rule that hides an MCP server as a whole. @param server Its name, as configured. */
export function serverHidingRule(permissions: ToolPermissionContext, server: string): SourcedRule | undefined {
  return hidingRule(permissions, { name: '', origin: { type: 'mcp', name: server } });
}

/** Find the rules that mean several tools of an MCP server, this one among them. */
function patternKeys(byName: Map<string, MutableToolRules>, tool: RuledTool): readonly string[] {
  if (tool.origin?.type !== 'mcp') return [];
  let known = patterns.get(byName);
  if (known === undefined) {
    known = [...byName.keys()].filter((key) => key.includes('*') && !key.includes(JOINT));
    patterns.set(byName, known);
  }
  return known.filter((pattern) => matchesToolPattern(pattern, tool));
}

/** Merge the rules that a tool has under several names, cached under the joined names. */
function merged(byName: Map<string, MutableToolRules>, keys: readonly string[]): ToolRules {
  const joinedKey = keys.join(JOINT);
  const known = byName.get(joinedKey);
  if (known) return known;
  const joined = emptyRules();
  for (const key of keys) {
    const rules = byName.get(key);
    joined.bare ??= rules?.bare;
    for (const [spec, rule] of rules?.bySpec ?? []) add(joined, spec, rule);
  }
  byName.set(joinedKey, joined);
  return joined;
}

function indexOf(permissions: ToolPermissionContext): RuleIndex {
  const known = indexes.get(permissions);
  if (known) return known;
  const index: RuleIndex = { allow: new Map(), ask: new Map(), deny: new Map() };
  for (const source of RULE_SOURCES) {
    const set = permissions.rules[source];
    if (!set) continue;
    for (const behavior of ['allow', 'ask', 'deny'] as const) {
      for (const text of set[behavior]) addRule(index[behavior], text, source);
    }
  }
  // A context that is not frozen may still change, so its index must not be cached.
  if (Object.isFrozen(permissions)) indexes.set(permissions, index);
  return index;
}

function addRule(byName: Map<string, MutableToolRules>, text: string, source: RuleSource): void {
  const { toolName, spec } = parseRule(text);
  let rules = byName.get(toolName);
  if (!rules) byName.set(toolName, (rules = emptyRules()));
  const rule = { rule: text, source };
  if (spec === undefined) rules.bare ??= rule;
  // A path rule without a path applies to all paths, for every tool that has paths.
  const listed = spec ?? (isPathRuleName(toolName) ? EVERY_PATH : undefined);
  if (listed !== undefined) add(rules, listed, rule);
}

function add(rules: MutableToolRules, spec: string, rule: SourcedRule): void {
  if (rules.bySpec.has(spec)) return;
  rules.bySpec.set(spec, rule);
  rules.specs.push(spec);
}

function emptyRules(): MutableToolRules {
  return { specs: [], bySpec: new Map() };
}
