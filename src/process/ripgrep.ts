/** Path of the ripgrep binary. */
export {
  /** Absolute path of the `rg` program that came with its package. */ rgPath as ripgrepPath,
} from '@vscode/ripgrep';
