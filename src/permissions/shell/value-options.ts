/**
 * Options that always take the next word: what follows one is no sub-command, and no program.
 *
 * Of other options nobody knows; then both ways of reading them count.
 */

const lines: Readonly<Record<string, string>> = {
  git: '-C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix --attr-source',
  npm: '-C --prefix -w --workspace --registry --tag --otp --loglevel --userconfig',
  docker: '-H -c -l --host --context --log-level --config -f -p --file --project-name --env-file --profile',
  kubectl: '-n -s -v --namespace --context --cluster --user --kubeconfig --server --token --as',
  make: '-C -f -I -o -W --directory --file --makefile',
  gh: '-R --repo',
  sudo: '-u -g -h -p -C -D -R -T -U --user --group --host --prompt --chdir',
  doas: '-u -C',
  env: '-u -C --unset --chdir',
  nice: '-n --adjustment',
  ionice: '-c -n -p',
  timeout: '-k -s --kill-after --signal',
  stdbuf: '-i -o -e',
  xargs: '-I -n -P -L -d -a -s -E --arg-file --delimiter --max-args --max-procs --max-lines',
  parallel: '-j -N -I --jobs --colsep --delay',
  flock: '-w -E --timeout',
  ssh: '-p -i -l -o -F -J -L -R -D -b -c -E -e -I -m -O -Q -S -W -w',
  watch: '-n --interval',
  strace: '-o -e -p -s',
  time: '-f -o',
  aws: '--profile --region --output --endpoint-url',
};
const tables = new Map(Object.entries(lines).map(([program, line]) => [program, new Set(line.split(' '))]));

/** Whether this option of a program takes the next word for certain. */
export function takesNextWord(program: string, option: string): boolean {
  return tables.get(program)?.has(option) === true;
}

/** Whether the word behind an option is text for people: a commit message is no script, and no option. */
export function isMessage(program: string, option: string | undefined): boolean {
  return (
    /^(?:git|gh|hg)$/.test(program) && /^(?:-[a-z]*m|--(?:message|title|body|notes|description))$/.test(option ?? '')
  );
}
