/**
 * Collects the input of a decision: everything the tool reports about one input, and the locations of its paths.
 *
 * If a method of the tool throws, `failure` is set and the decision becomes a question; it never grants anything.
 */
import { homedir } from 'node:os';
import type { PermissionDecision, PermissionResult } from '../wire/decision.ts';
import { errorMessage } from '../base/errors.ts';
import type { LocatePath } from '../tool/located-path.ts';
import type { PermissionUpdate } from '../wire/permission-context.ts';
import type { Invocation } from '../tool/invocation.ts';
import type { SessionContext } from '../tool/session-context.ts';
import type { PermissionMatcher, ToolUseContext } from '../tool/tool.ts';
import { domainMatcher } from './domain-matcher.ts';
import { allowingPathRule, type JudgedPath } from './path-gate.ts';
import type { TwoPersonRules } from './two-person.ts';

/** A call to decide about. */
export interface PermissionRequest {
  readonly invocation: Invocation;
  readonly context: ToolUseContext;
  readonly locate: LocatePath;
  /** Calls that need two persons, even if they are allowed otherwise. */
  readonly twoPerson?: TwoPersonRules;
  /** Combined answer of the PreToolUse hooks. */
  readonly hook?: { readonly behavior: PermissionDecision['behavior']; readonly reason?: string };
  /** Classifier of mode `auto`, consulted before a person. */
  readonly classifier?: (request: PermissionRequest) => Promise<PermissionDecision['behavior']>;
}

/** Facts about a call, collected before rules are applied. */
export interface Judgement {
  readonly check: PermissionResult;
  readonly matcher: PermissionMatcher;
  readonly paths: readonly JudgedPath[];
  /** False if the tool declares no paths. */
  readonly hasPaths: boolean;
  readonly isReadOnly: boolean;
  readonly warnings: readonly string[];
  /** Return what "always allow" would add. Computed lazily, since most calls are allowed without a question. */
  suggest(): readonly PermissionUpdate[];
  /** Error of the tool's own checks; the call is then always asked about. */
  readonly failure?: string;
}

/** For input that cannot be judged: every deny and ask spec matches, no allow spec does. */
const UNJUDGEABLE: PermissionMatcher = { hits: (specs) => specs[0], covers: () => undefined };

/** For path tools: their specs are patterns, which the path gate matches. */
const PATHS_ONLY: PermissionMatcher = { hits: () => undefined, covers: () => undefined };

/** Collect the facts about a call from its tool. Never rejects. */
export async function judgeCall(request: PermissionRequest): Promise<Judgement> {
  const { invocation, context } = request;
  const { tool } = invocation;
  let failure: string | undefined;
  const attempt = <Value>(question: () => Value, otherwise: Value): Value => {
    try {
      return question();
    } catch (error) {
      failure ??= errorMessage(error);
      return otherwise;
    }
  };

  const uses = attempt(() => invocation.paths, undefined);
  const where = { session: context.session, sessionFolder: context.sessionFolder };
  const [check, paths] = await Promise.all([
    checkOf(request).catch((error: unknown): PermissionResult => {
      failure ??= errorMessage(error);
      return { behavior: 'ask', message: `"${tool.name}" could not check its input` };
    }),
    Promise.all((uses ?? []).map(async (use) => ({ use, located: await request.locate(use, where) }))).catch(
      (error: unknown) => {
        failure ??= errorMessage(error);
        return [];
      },
    ),
  ]);

  const matcher = attempt(() => matcherFor(invocation, context.session), UNJUDGEABLE);
  const isReadOnly = attempt(() => invocation.isReadOnly, false);
  const warnings = attempt(() => invocation.warnings, []);
  const hasPaths = uses !== undefined;
  let suggested: readonly PermissionUpdate[] | undefined;
  const suggest = () =>
    (suggested ??=
      check.behavior === 'ask' && check.suggestions ? check.suggestions : suggestionsFor(request, paths, hasPaths));
  return { check, matcher, paths, hasPaths, isReadOnly, warnings, suggest, failure };
}

/** Return the matcher of an invocation: the tool's own, else by the domain of its address, else by paths only. */
export function matcherFor(invocation: Invocation, session: SessionContext): PermissionMatcher {
  const defaultMatcher = () =>
    invocation.tool.paths ? PATHS_ONLY : domainMatcher(invocation.observable(session)['url']);
  return invocation.matcher(session) ?? defaultMatcher();
}

async function checkOf({ invocation, context }: PermissionRequest): Promise<PermissionResult> {
  const { tool, input } = invocation;
  return await tool.checkPermissions(input, tool.analyse ? { ...context, analysis: invocation.analysis } : context);
}

/** Suggest the tool's own rules, else adding the outside folder, else a rule for the tool itself. */
function suggestionsFor(
  { invocation, context }: PermissionRequest,
  paths: readonly JudgedPath[],
  hasPaths: boolean,
): readonly PermissionUpdate[] {
  const { tool } = invocation;
  const own = ownRules(invocation, context.session);
  if (own) return own.length === 0 ? [] : [{ type: 'addRules', behavior: 'allow', rules: own }];
  if (!hasPaths) return [{ type: 'addRules', behavior: 'allow', rules: [tool.name] }];

  const outside = paths.filter(({ located }) => !located.isInside && !located.isSessionFile);
  const directories = new Set(outside.map(({ located }) => located.real.slice(0, located.real.lastIndexOf('/'))));
  const updates: PermissionUpdate[] = [];
  if ([...directories].every(mayBeInside)) {
    if (directories.size > 0) updates.push({ type: 'addDirectories', directories: [...directories] });
  } else if (outside.every(({ located }) => isNarrow(located.real))) {
    const rules = outside.map((path) => allowingPathRule(path, context.session.root));
    updates.push({ type: 'addRules', behavior: 'allow', rules });
  }
  if (tool.isFileEdit && outside.length === 0) updates.push({ type: 'setMode', mode: 'acceptEdits' });
  return updates;
}

/** @returns Empty if the tool fails: suggesting a rule for the whole tool would be too broad. */
function ownRules(invocation: Invocation, session: SessionContext) {
  try {
    return invocation.tool.suggestRules?.(invocation.observable(session), invocation.analysis);
  } catch {
    // Suggestions are optional: the question does not depend on them.
    return [];
  }
}

/**
 * Report whether a folder may be suggested as a working directory. Hidden folders and those below them are excluded,
 * since they often contain keys.
 */
function mayBeInside(directory: string): boolean {
  return isNarrow(directory) && !/\/\./.test(directory);
}

/** Report whether a path is narrower than the root, a top-level folder, the home folder, or a whole hidden folder. */
function isNarrow(path: string): boolean {
  return path.split('/').length > 2 && path !== homedir() && !/\/\.[^/]*$/.test(path);
}
