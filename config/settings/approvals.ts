/**
 * The `approvals` setting: who is told of open questions, and which calls need two persons.
 */
import type { SettingsFile } from './schema.ts';
import { namedSecret } from './secret.ts';
import type { Environment } from './settings-file.ts';

/** How questions are answered. How long they stand is the limit `askTimeoutMs`. */
export interface ApprovalSettings {
  /** Told of each new question; the secret signs what is posted. */
  readonly webhooks: readonly { readonly url: string; readonly secret: string }[];
  /** Rules; a call that one matches needs the yes of two different principals. */
  readonly twoPerson: readonly string[];
}

/** Fill the secrets in. @throws {SettingsError} Where one is not in the environment. */
export function approvalSettings(approvals: SettingsFile['approvals'], environment: Environment): ApprovalSettings {
  const webhooks = approvals?.webhooks ?? [];
  return {
    webhooks: webhooks.map(({ url, secretEnv }, index) => ({
      url,
      secret: namedSecret(`approvals.webhooks.${index}.secretEnv`, secretEnv, environment),
    })),
    twoPerson: approvals?.twoPerson ?? [],
  };
}
