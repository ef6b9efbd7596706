/**
 * Third step of locating a path, for writes: places where a written file may be executed as a program.
 *
 * Judged by name, so that missing files are protected, too. Names are folded (case, Unicode form, trailing dots), since
 * some file systems treat those as the same name.
 */
import { existsSync } from 'node:fs';
import { join, sep } from 'node:path';

/** Folders at any depth whose contents configure programs. */
const FOLDERS = new Set([
  '.git', '.claude', '.gauntlet', '.idea', '.devcontainer', '.husky', '.ssh', '.gnupg',
  '.vim', '.emacs.d', '.oh-my-zsh', 'crontabs',
]); // prettier-ignore

/** Files at any depth that shells, editors and git run or read commands from. */
const FILES = new Set([
  '.gitmodules', '.gitattributes', '.gitconfig', '.mcp.json', '.claude.json', '.envrc', '.devcontainer.json',
  '.ripgreprc', '.bashrc', '.bash_profile', '.bash_login', '.bash_logout', '.bash_aliases', '.profile', '.zshrc',
  '.zshenv', '.zprofile', '.zlogin', '.zlogout', '.kshrc', '.cshrc', '.tcshrc', '.login', '.logout', '.inputrc',
  '.xinitrc', '.xprofile', '.xsession', '.xsessionrc', '.pam_environment', '.vimrc', '.gvimrc', '.nvimrc', '.exrc',
  '.emacs', 'crontab', 'anacrontab',
]); // prettier-ignore

/** Pairs of consecutive names, at any depth. */
const PAIRS = new Set([
  '.vscode/tasks.json', '.vscode/settings.json', '.vscode/launch.json', '.config/git', '.config/fish', '.config/nvim',
  '.config/autostart', '.config/systemd', '.config/environment.d', '.aws/config', '.kube/config', '.docker/config.json',
]); // prettier-ignore

/** Absolute paths below the root folder that begin like these. */
const SYSTEM =
  /^\/(?:private\/)?(?:etc\/(?:cron|profile|bash|zsh|ssh|sudoers|systemd|pam|environment|ld\.so|init)|var\/spool\/(?:cron|at)|var\/at\/|boot\/|(?:usr\/)?lib\/systemd\/|library\/launch)/;

/** Entries beside a bare repository's `HEAD`; git accepts a folder with the first two and `HEAD` as a repository. */
const BARE_PARTS = new Set(['objects', 'refs', 'hooks', 'info']);

/**
 * Explain why a write to this path is asked about in every mode, judging by names.
 *
 * @param path Absolute and normalised; callers check the spelled and the real path.
 * @returns One clause that names the danger, or undefined.
 */
export function sensitiveTarget(path: string): string | undefined {
  const folded = foldName(path);
  const names = folded.split(sep).map((name) => name.replace(/[. ]+$/, ''));
  const last = names.at(-1) ?? '';
  const folder = names.find((name) => FOLDERS.has(name));
  if (folder !== undefined) return `files in "${folder}" can be executed, or configure programs`;
  if (FILES.has(last) || last.endsWith('.code-workspace'))
    return `"${last}" is read by programs as commands or settings`;
  const pair = names.findIndex((name, index) => PAIRS.has(`${names[index - 1] ?? ''}/${name}`));
  if (pair > 0) return `"${names[pair - 1] ?? ''}/${names[pair] ?? ''}" is read by programs as commands or settings`;
  if (SYSTEM.test(folded)) return 'it is a start-up, login or schedule file of the system';
  if (completesBareRepository(path, names))
    return 'it would be part of a bare git repository, whose hooks and settings git runs';
  return undefined;
}

/**
 * Fold a name as the most lenient file system does: one Unicode form, one case.
 *
 * Upper case first, because some letters only coincide that way (the long s, the Kelvin sign).
 */
export function foldName(name: string): string {
  return name.normalize('NFC').toUpperCase().toLowerCase();
}

/** Report whether the file would complete a bare repository: any of its parts may be written last. */
function completesBareRepository(path: string, names: readonly string[]): boolean {
  const parts = path.split(sep);
  return names.some((name, index) => {
    const folder = parts.slice(0, index).join(sep) || sep;
    const isLast = index === names.length - 1;
    if (isLast && (name === 'head' || name === 'config' || name === 'config.worktree')) {
      return existsSync(join(folder, 'objects')) || existsSync(join(folder, 'refs'));
    }
    return !isLast && BARE_PARTS.has(name) && existsSync(join(folder, 'HEAD'));
  });
}
