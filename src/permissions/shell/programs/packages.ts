/** Package managers, and programs that run what they install. */
import type { ProgramRecord } from '../program-record.ts';
import { isGiven } from '../flags.ts';
import { verbs } from '../program-spec.ts';

const APT_FLAGS = '-anf --names-only --installed --all-versions --no-all-versions --recurse';

/** Package managers. */
export const PACKAGES: readonly ProgramRecord[] = [
  {
    names: 'dpkg',
    reads: {
      flags:
        '-lLsSpV --list --listfiles --status --search --print-avail --get-selections --print-architecture --verify --audit -C',
      check: ({ flags }) => (flags.length > 0 ? undefined : 'dpkg lacks an action'),
    },
    isCoveredWhole: true,
  },
  {
    names: 'dpkg-query',
    reads: {
      flags: '-lLsSWp -f= --list --listfiles --status --search --show --showformat=',
      check: ({ flags }) => (flags.length > 0 ? undefined : 'dpkg-query lacks an action'),
    },
    isCoveredWhole: true,
  },
  {
    names: 'rpm',
    reads: {
      flags:
        '-qailRcdf --query --all --info --list --requires --provides --whatrequires --changelog --last --scripts --configfiles --docfiles',
      check: ({ flags }) => (isGiven(flags, '-q', '--query') ? undefined : 'rpm does more than query'),
    },
    isCoveredWhole: true,
  },
  {
    names: 'apt',
    reads: {
      flags: '-v --version --help',
      subcommands: verbs('list search show policy depends rdepends', `${APT_FLAGS} --upgradable --manual-installed`),
    },
  },
  {
    names: 'apt-cache',
    reads: { subcommands: verbs('search show policy depends rdepends showpkg madison pkgnames', APT_FLAGS) },
  },
  { names: 'uv conda', reads: { alone: '--version -V' } },
  { names: 'gem apt-get brew', reads: { alone: '--version -v' } },
  { names: 'pipx virtualenv', reads: { alone: '--version' } },
  {
    names: 'pip',
    aliases: 'pip3',
    reads: {
      flags: '-V --version',
      subcommands: { show: { flags: '-f --files' }, freeze: { flags: '-l --local --user --all --exclude-editable' } },
    },
  },
];
