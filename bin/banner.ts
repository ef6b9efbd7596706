/**
 * The first thing a person sees: where the server is, where the token is, what to try.
 *
 * It goes to standard output, so that standard error stays JSON alone. Programs read its first line.
 */

/** What the banner tells. */
export interface BannerFacts {
  /** `http://HOST:PORT`, the port the real one. */
  readonly url: string;
  /** A name it is asked under, where only names set by hand get in. */
  readonly hostName: string | undefined;
  /** undefined: the token was set by hand. */
  readonly tokenFile: string | undefined;
  readonly workspace: string;
  /** The workspace is part of what the server runs from, which no call may change. */
  readonly isReadOnly: boolean;
  readonly toolCount: number;
  /** Rules that never decide anything; the operator's log names them. */
  readonly deadRuleCount: number;
  /** Why commands that only read are held by their words alone; undefined where they are not. */
  readonly unheld: string | undefined;
}

/** The banner's lines; the first is `Listening on http://HOST:PORT`. */
export function bannerLines(facts: BannerFacts): string[] {
  const { url, hostName, tokenFile, workspace, isReadOnly, toolCount, deadRuleCount, unheld } = facts;
  const token = tokenFile === undefined ? '$GAUNTLET_TOKEN' : `$(cat ${shellWord(tokenFile)})`;
  const host = hostName === undefined ? '' : ` -H "Host: ${hostName}"`;
  return [
    `Listening on ${url}`,
    `  token      ${tokenFile ?? 'as set by hand'}`,
    `  workspace  ${workspace}`,
    ...(isReadOnly
      ? [`             read-only, since this server runs from it; set GAUNTLET_WORKSPACE to work elsewhere`]
      : []),
    `  tools      ${toolCount}`,
    ...(deadRuleCount > 0 ? [`  rules      ${deadRuleCount} never decide anything, see the log`] : []),
    ...(unheld === undefined ? [] : [`  commands   that only read are held by their words alone: ${unheld}`]),
    `  try        curl -s${host} -H "Authorization: Bearer ${token}" "${url}/tools?format=table"`,
  ];
}

/** As it stands inside double quotes and a command substitution. */
function shellWord(path: string): string {
  return /^[\w./@+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
