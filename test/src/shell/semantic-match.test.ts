import { ShellLine } from '../../../src/shell/shell-line.ts';
import { describe, expect, test } from 'vitest';
import { shellMatcher } from '../../../src/shell/matcher.ts';

const hit = (command: string, ...specs: string[]) => shellMatcher(new ShellLine(command)).hits(specs, 'deny');
const possible = (command: string, ...specs: string[]) => shellMatcher(new ShellLine(command)).mayHit?.(specs);

/** A rule, commands it is about in other words, and neighbours that it is not about. */
const RULES: Readonly<Record<string, readonly [meant: readonly string[], others: readonly string[]]>> = {
  'rm -rf *': [
    [
      'rm -fr x',
      'rm -r -f x',
      'rm -f x -R',
      'rm -rvf x',
      'rm --recursive --force x',
      'rm -r --force x',
      'rm --rec --fo x',
      'sudo rm -fr /x',
      'ls | xargs rm -fr',
      'find . -exec rm -r -f {} +',
      'rm -{r,f} x',
      'f=-rf; rm $f x',
      'F=-fr; rm $F x',
      "bash -c 'rm -fr x'",
    ],
    ['rm x', 'rm -r x', 'rm -f x', 'rm ./-rf', 'git rm -rf x', 'echo rm -fr x', 'rm -- -f -r'],
  ],
  'git push --force *': [
    [
      'git push origin --force',
      'git push -f',
      'git push -uf origin main',
      'git push --forc',
      'git -C x push -v --force',
      'git push origin +main',
      'git push "--fo"rce',
    ],
    ['git push', 'git push origin force', 'git push --no-force', 'git push origin -- --force', 'git fetch --force'],
  ],
  'git push:*': [
    [
      'git lfs push origin',
      'git subtree push --prefix=x origin main',
      'git $(echo push)',
      'git send-pack origin',
      'hub push',
      'git.exe push',
    ],
    ['git stash push', 'git log --grep push', 'git -C push status', "git commit -m 'git push'"],
  ],
  'git commit --amend*': [
    ['git commit -a --amend', 'git commit -am x --amend', 'git -c user.name=x commit --no-edit --amen'],
    ['git commit -m amend', 'git commit -m --amend', 'git log --amend'],
  ],
  '* --no-verify *': [['git commit -n -m x', 'git commit -nm x', 'git commit --no-verif -m x'], ['git push -n']],
  'git branch -D *': [['git branch x -D', 'git branch --delete -f x', 'git branch -Dq x'], ['git branch -d x']],
  'gpg --export-secret-keys *': [['gpg -a --export-secret-k x'], ['gpg --export x']],
  'docker compose down:*': [
    ['docker compose -f x.yml down', 'docker compose --profile x -f a -f b down -v', 'docker -c y compose down'],
    ['docker compose -f down up', 'docker compose up', 'docker compose logs down'],
  ],
  'docker run *': [
    ['docker container run x', 'docker -H run run x'],
    ['docker build .', 'docker compose run x', 'docker rm run'],
  ],
  'npm install -g *': [
    ['npm -g install x', 'npm i x -g', 'npm add --global x', 'npm install --save-dev -g x'],
    ['npm install x', 'npm ls -g', 'npm run install -- -g'],
  ],
  'npm publish:*': [
    ['npm publ', 'P=publish; npm $P', 'corepack npm publish', 'npm $(echo publish)'],
    ['npm --prefix publish install', 'npm run publish', 'npm unpublish x', 'npm pack'],
  ],
  'make deploy:*': [
    ['make FOO=1 deploy', 'make build deploy', 'make -j 4 deploy'],
    ['make -C deploy test', 'make predeploy'],
  ],
  'kubectl delete:*': [['kubectl get po -o name | xargs kubectl -n x delete'], ['kubectl -n delete get po']],
  'gh pr merge:*': [['gh pr -R o/r merge 1', 'gh pr --repo=o/r merge 1'], ['gh pr view merge']],
  'pip install:*': [
    ['python -m pip install x', 'python3.11 -m pip -q install x', 'pip3 install x'],
    ['pip download x'],
  ],
  'cargo publish:*': [['cargo +nightly publish', 'cargo -q publish'], ['cargo run -- publish']],
  'terraform apply:*': [['chamber exec x -- terraform apply', 'anything y -- terraform apply'], ['terraform plan']],
  'rm:*': [
    ['python3 -m x -- rm y', 'docker exec c rm x', 'kubectl exec p -- rm x'],
    ['docker rm x', 'podman rm c', 'command -v rm', "git commit -m 'rm x'", 'gh pr create --title "rm x"'],
  ],
};

describe('a rule is about what its words mean:', () => {
  test.each(Object.entries(RULES))('%s', (rule, [meant, others]) => {
    expect(meant.filter((command) => hit(command, rule) === undefined)).toEqual([]);
    expect(others.filter((command) => hit(command, rule) !== undefined)).toEqual([]);
  });

  test('one that is exact covers the same words alone', () => {
    expect(hit('git push --force', 'git push')).toBeUndefined();
    expect(hit('git push -f', 'git push --force')).toBe('git push --force');
    expect(hit('git push origin -f', 'git push --force')).toBeUndefined();
  });

  test('one whose program is named like what every object has is no other', () => {
    expect(hit('constructor toString x', 'rm -rf *', 'npm i:*')).toBeUndefined();
  });
});

describe('a word that is known only at run time', () => {
  test.each([
    ['npm $x', 'npm publish:*'],
    ['npm "$x"', 'npm publish:*'],
    ['git push $F', 'git push --force *'],
    ['git push "$@"', 'git push --force *'],
    ['rm $FLAGS x', 'rm -rf *'],
    ['rm -r $(cat f) x', 'rm -rf *'],
    ['rm "$f"', 'rm -rf *'],
    ['chmod $M x', 'chmod 777 *'],
    ['gh $1 $2', 'gh pr merge:*'],
    ['git commit $F -m x', '* --no-verify *'],
    ["bash -c 'npm $x'", 'npm publish:*'],
    ['docker r*', 'docker run:*'],
    ['terraform ap${x}', 'terraform apply:*'],
  ])('in %s may be what %s is about', (command, rule) => {
    expect(hit(command, rule)).toBeUndefined();
    expect(possible(command, rule)).toBe(rule);
  });

  test('changes nothing about a rule that the command is about for certain', () => {
    expect(possible('npm publish $x', 'npm publish:*')).toBeUndefined();
    expect(possible('rm -rf $x', 'rm -rf *')).toBeUndefined();
  });

  test.each([
    ['git push origin "$branch"', 'git push --force *'],
    ['git push -u origin "$(git branch --show-current)"', 'git push --force *'],
    ['rm -f "$tmp"', 'rm -rf *'],
    ['rm "$dir/x" $dir/x', 'rm -rf *'],
    ['rm *.o', 'rm -rf *'],
    ['git commit -m "$msg"', 'git commit --amend*'],
    ['git commit -m "$(cat x)"', '* --no-verify *'],
    ['ls $x', '* --no-verify *'],
    ['npm run $x', 'npm publish:*'],
    ['kubectl get pod $p', 'kubectl delete:*'],
    ['npm publish-x', 'npm publish:*'],
  ])('in %s is not what %s is about', (command, rule) => {
    expect(possible(command, rule)).toBeUndefined();
  });
});
