/** ip: shows the network, or changes it. */
import { type CommandJudgement, NO_PATHS, type ProgramSpec } from '../program-spec.ts';
import type { ShellWord } from '../word.ts';

const IP_OBJECTS = /^(?:a|addr|address|l|link|r|ro|route|n|neigh|neighbour|neighbor|rule|ru|maddr|tunnel)$/;
const IP_VERBS = /^(?:show|list|lst|ls|s|sh|get)$/;

/** The words with which ip only shows. */
export const IP: ProgramSpec = { judge: judgeIp };

/** `ip [options] object [show …]`; every other verb changes the network. */
function judgeIp(words: readonly ShellWord[]): CommandJudgement {
  const texts = words.map((word) => word.literal);
  const at = texts.findIndex(
    (text) =>
      text === undefined ||
      !/^-(?:[46osdhjpc]|br|brief|json|pretty|details|stats|statistics|color|oneline|human|family|[46])$/.test(text),
  );
  const [object = '', verb] = at < 0 ? [] : texts.slice(at);
  const isShown = verb === undefined ? texts.length === at + 1 : IP_VERBS.test(verb);
  // `ip link s` is `ip link set`; of all other objects it is `show`.
  const isKnown = IP_OBJECTS.test(object) && isShown && !(verb === 's' && object.startsWith('l'));
  const isLiteral = texts.every((text) => text !== undefined);
  return { reads: NO_PATHS, ...(!(isKnown && isLiteral) && { problem: 'ip may change the network' }) };
}
