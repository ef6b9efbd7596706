/**
 * What the decision weighs: everything the tool says about one input, and where its paths lie.
 *
 * A tool's method that throws is a finding, never a grant: `failure` makes the decision a question.
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
  /** Calls that need two persons, whatever else allows them. */
  readonly twoPerson?: TwoPersonRules;
  /** What the PreToolUse hooks said together. */
  readonly hook?: { readonly behavior: PermissionDecision['behavior']; readonly reason?: string };
  /** Mode `auto` asks it before a person; it sees the request alone. */
  readonly classifier?: (request: PermissionRequest) => Promise<PermissionDecision['behavior']>;
}

/** Everything known about a call before the rules are weighed. */
export interface Judgement {
  readonly check: PermissionResult;
  readonly matcher: PermissionMatcher;
  readonly paths: readonly JudgedPath[];
  /** False also for a tool that declares no paths. */
  readonly hasPaths: boolean;
  readonly isReadOnly: boolean;
  readonly warnings: readonly string[];
  /** What "always allow" would add. Most calls are allowed and never asked about, so it is made when it is wanted. */
  suggest(): readonly PermissionUpdate[];
  /** What went wrong in the tool's own gates; whatever else holds, somebody must be asked. */
  readonly failure?: string;
}

/** What cannot be judged forbids, and never allows. */
const UNJUDGEABLE: PermissionMatcher = { hits: (specs) => specs[0], covers: () => undefined };

/** A path tool's specs are patterns, which the path gate judges. */
const PATHS_ONLY: PermissionMatcher = { hits: () => undefined, covers: () => undefined };

/** Ask the tool everything. Never rejects. */
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

/** Matches an invocation against rules: as its tool says, else by the domain of its address, else by its paths alone. */
export function matcherFor(invocation: Invocation, session: SessionContext): PermissionMatcher {
  const defaultMatcher = () =>
    invocation.tool.paths ? PATHS_ONLY : domainMatcher(invocation.observable(session)['url']);
  return invocation.matcher(session) ?? defaultMatcher();
}

async function checkOf({ invocation, context }: PermissionRequest): Promise<PermissionResult> {
  const { tool, input } = invocation;
  return await tool.checkPermissions(input, tool.analyse ? { ...context, analysis: invocation.analysis } : context);
}

/** The tool's own rules, else the folder outside, else the tool itself. */
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

/** @returns None where the tool fails to say: nothing is proposed rather than the tool itself. */
function ownRules(invocation: Invocation, session: SessionContext) {
  try {
    return invocation.tool.suggestRules?.(invocation.observable(session), invocation.analysis);
  } catch {
    // A proposal is a courtesy: what is asked does not depend on it.
    return [];
  }
}

/** Whether a folder may be proposed as a working directory: not a hidden one or one below it, since keys stand there. */
function mayBeInside(directory: string): boolean {
  return isNarrow(directory) && !/\/\./.test(directory);
}

/** Whether a path holds less than the machine, a part of its root, a home, or all of a hidden folder. */
function isNarrow(path: string): boolean {
  return path.split('/').length > 2 && path !== homedir() && !/\/\.[^/]*$/.test(path);
}
