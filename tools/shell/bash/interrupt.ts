/** What becomes of a running command when a person types. */
import type { ShellVerdict } from '../../../src/permissions/shell/verdict.ts';

/** Installs, servers and watchers: begun again at little cost, or never ending by themselves. */
const RESTARTABLE = [
  /^(npm|pnpm|yarn|bun)\s+(i|ci|install|add|update|upgrade)\b/,
  /^yarn$/,
  /^(npm|pnpm|yarn|bun)\s+(run\s+)?(dev|start|serve|watch|preview)\b/,
  /^(pip3?|pipx|uv|poetry|conda|mamba)\s+(\w+\s+)?(install|sync|add)\b/,
  /^(python3?\s+-m\s+)?(pip|http\.server)\b/,
  /^(apt|apt-get|aptitude|dnf|yum|brew|apk|pacman)\b/,
  /^(cargo\s+(install|add|run|watch)|go\s+(get|install)|gem\s+install|bundle\s+install|composer\s+install)\b/,
  /^(docker|docker-compose|podman|kubectl)\b/,
  /^tail\s+(.*\s)?(-\w*[fF]|--follow)/,
  /^(watch|serve|http-server|nodemon|vite|ping|sleep|inotifywait|journalctl)\b/,
  /^(next|astro|nuxt|gatsby)\s+(dev|start)\b/,
];

/** Tests and builds: their result is what everybody waits for. */
const WAITED_FOR = /\b(test|tests|spec|check|build|compile|pytest|vitest|jest|tsc|make|cmake|ninja|gradle|mvn)\b/;

/** `cancel` when every lasting part of the command can be begun again. */
export function interruptsBash(verdict: ShellVerdict): 'cancel' | 'block' {
  const parts = verdict.parts.map(({ text, words }) => (words.length > 0 ? words.join(' ') : text));
  const isRestartable = parts.some((part) => RESTARTABLE.some((pattern) => pattern.test(part)));
  return isRestartable && !parts.some((part) => WAITED_FOR.test(part.split(' ', 3).join(' '))) ? 'cancel' : 'block';
}
