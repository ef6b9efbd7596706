/**
 * The rules of one context, found by tool.
 *
 * Built once a context (contexts are frozen, so the index can never be stale), so that ten thousand
 * rules cost a decision a few lookups.
 */
import {
  RULE_SOURCES,
  type RuleBehavior,
  type RuleSource,
  type ToolPermissionContext,
} from '../wire/permission-context.ts';
import type { Tool } from '../tool/tool.ts';
import { parseRule, ruleKeys } from './rule.ts';
import { isPathRuleName } from './rule-names.ts';

/** A rule as written, and where it came from. */
export interface SourcedRule {
  readonly rule: string;
  readonly source: RuleSource;
}

/** The rules of one behavior for one tool. */
export interface ToolRules {
  /** A rule without a spec, the weightiest source first. */
  readonly bare?: SourcedRule;
  /** Specs of the other rules; the same array as long as the context is the same. */
  readonly specs: readonly string[];
  /** Where each spec came from. */
  readonly bySpec: ReadonlyMap<string, SourcedRule>;
}

interface MutableToolRules {
  bare?: SourcedRule;
  specs: string[];
  bySpec: Map<string, SourcedRule>;
}

type RuleIndex = Readonly<Record<RuleBehavior, Map<string, MutableToolRules>>>;

/** The spec of a path rule that spells none: every absolute path, inside the working directories or not. */
const EVERY_PATH = '//**';

const NONE: ToolRules = Object.freeze({ specs: Object.freeze([]), bySpec: new Map() });
const indexes = new WeakMap<ToolPermissionContext, RuleIndex>();

/** The rules of `behavior` that name this tool, one of its aliases, or its MCP server. */
export function rulesFor(
  permissions: ToolPermissionContext,
  behavior: RuleBehavior,
  tool: Pick<Tool, 'name' | 'aliases' | 'origin'>,
): ToolRules {
  const byName = indexOf(permissions)[behavior];
  if (byName.size === 0) return NONE;
  const keys = ruleKeys(tool).filter((key) => byName.has(key));
  const [only] = keys;
  if (only === undefined) return NONE;
  if (keys.length === 1) return byName.get(only) ?? NONE;
  return merged(byName, keys);
}

/** The rules of `behavior` written for `toolName` itself: how Read and Edit rules reach other tools. */
export function rulesNamed(permissions: ToolPermissionContext, behavior: RuleBehavior, toolName: string): ToolRules {
  return indexOf(permissions)[behavior].get(toolName) ?? NONE;
}

/** The bare deny rule (`mcp__server` included) that takes this tool out of the pool before any model sees it. */
export function hidingRule(
  permissions: ToolPermissionContext,
  tool: Pick<Tool, 'name' | 'aliases' | 'origin'>,
): SourcedRule | undefined {
  return rulesFor(permissions, 'deny', tool).bare;
}

/** A tool with rules under several names: joined once, then found under all of them together. */
function merged(byName: Map<string, MutableToolRules>, keys: readonly string[]): ToolRules {
  const joinedKey = keys.join(' ');
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
  // A context that could still change must not be remembered by what it held once.
  if (Object.isFrozen(permissions)) indexes.set(permissions, index);
  return index;
}

function addRule(byName: Map<string, MutableToolRules>, text: string, source: RuleSource): void {
  const { toolName, spec } = parseRule(text);
  let rules = byName.get(toolName);
  if (!rules) byName.set(toolName, (rules = emptyRules()));
  const rule = { rule: text, source };
  if (spec === undefined) rules.bare ??= rule;
  // A path rule without a path is about all of them, for every tool that has paths.
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
