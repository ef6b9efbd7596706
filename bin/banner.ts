/**
 * The banner printed at start: addresses of server and token, and a command to try.
 *
 * It goes to standard output, so that standard error contains only JSON. Programs parse its first line.
 */

/** Facts for the banner. */
export interface BannerFacts {
  /** `http://HOST:PORT`, with the actual port. */
  readonly url: string;
  /** Host name to send if only configured names are allowed; `undefined` otherwise. */
  readonly hostName: string | undefined;
  /** `undefined` if the token was configured. */
  readonly tokenFile: string | undefined;
  readonly workspace: string;
  /** True if the workspace is part of the installation, which no call may change. */
  readonly isReadOnly: boolean;
  readonly toolCount: number;
  /** Address by which a browser signs in to the console; `undefined` if there is none. */
  readonly consoleUrl: string | undefined;
  /** Number of rules that can never apply; the operator's log names them. */
  readonly deadRuleCount: number;
  /** Reason why read-only commands run without a jail; `undefined` if they have one. */
  readonly noJailReason: string | undefined;
}

/** Build the banner's lines; the first is `Listening on http://HOST:PORT`. */
export function bannerLines(facts: BannerFacts): string[] {
  const { url, hostName, tokenFile, workspace, isReadOnly, toolCount, consoleUrl, deadRuleCount, noJailReason } = facts;
  const token = tokenFile === undefined ? '$GAUNTLET_TOKEN' : `$(cat ${shellWord(tokenFile)})`;
  const host = hostName === undefined ? '' : ` -H "Host: ${hostName}"`;
  return [
    `Listening on ${url}`,
    ...(consoleUrl === undefined ? [] : [`  console    ${consoleUrl}`]),
    `  token      ${tokenFile ?? 'as set by hand'}`,
    `  workspace  ${workspace}`,
    ...(isReadOnly
      ? [`             read-only, since this server runs from it; set GAUNTLET_WORKSPACE to work elsewhere`]
      : []),
    `  tools      ${toolCount}`,
    ...(deadRuleCount > 0 ? [`  rules      ${deadRuleCount} never decide anything, see the log`] : []),
    ...(noJailReason === undefined
      ? []
      : [`  commands   that only read are held by their words alone: ${noJailReason}`]),
    `  try        curl -s${host} -H "Authorization: Bearer ${token}" "${url}/tools?format=table"`,
  ];
}

/** Quote a path for use inside double quotes and a command substitution. */
function shellWord(path: string): string {
  return /^[\w./@+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
