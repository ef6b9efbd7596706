/** Containers, machines elsewhere, and what sets them up. */
import type { ProgramRecord } from '../program-record.ts';

/** Containers and clouds. */
export const CLOUD: readonly ProgramRecord[] = [
  {
    names: 'docker',
    reads: { alone: '--version -v' },
    commandGroup: { words: /^(?:container|image)$/, length: 1 },
    runsBehind: /^(?:run|exec)$/,
    isContainerRunner: true,
    hasOperandsBehindDashes: true,
    valueOptions: '-H -c -l --host --context --log-level --config -f -p --file --project-name --env-file --profile',
  },
  { names: 'docker-compose', reads: { alone: '--version' } },
  {
    names: 'podman',
    reads: { alone: '--version -v' },
    commandGroup: { words: /^(?:container|image)$/, length: 1 },
    runsBehind: /^(?:run|exec)$/,
    isContainerRunner: true,
    hasOperandsBehindDashes: true,
  },
  {
    names: 'aws',
    reads: { alone: '--version' },
    hasOperandsBehindDashes: true,
    valueOptions: '--profile --region --output --endpoint-url',
  },
  {
    names: 'helm',
    runsBehind: /^--post-renderer$/,
    hasOperandsBehindDashes: true,
    hiddenText: [{ words: /^--post-renderer/ }],
  },
  {
    names: 'kubectl',
    runsBehind: /^(?:run|exec|debug)$/,
    isContainerRunner: true,
    hasOperandsBehindDashes: true,
    valueOptions: '-n -s -v --namespace --context --cluster --user --kubeconfig --server --token --as',
  },
  { names: 'gcloud az', hasOperandsBehindDashes: true },
  {
    names: 'terraform',
    hasOperandsBehindDashes: true,
    hiddenText: [{ command: /^(?:apply|destroy|plan|refresh|import|console|test)$/ }],
  },
  {
    names:
      'foreman honcho overmind vagrant packer ansible-playbook ansible-pull ansible-console act earthly ' + 'dagger',
    hiddenText: 'always',
  },
  { names: 'tofu', hiddenText: [{ command: /^(?:apply|destroy|plan|refresh|import|console|test)$/ }] },
  { names: 'pulumi', hiddenText: [{ command: /^(?:up|update|preview|pre|destroy|refresh)$/ }] },
  { names: 'cdk serverless sls', hiddenText: [{ command: /^(?:deploy|synth|diff|destroy|invoke)$/ }] },
];
