/**
 * The `containment` setting: which commands the kernel holds to what was said of them.
 */
import * as z from 'zod';
import { section } from './section.ts';

/** Sections of the settings file and of the policy. */
export const containment = section({
  scope: z.enum(['off', 'reads', 'all']).optional(),
  required: z.boolean().optional(),
  wordsAlone: z.boolean().optional(),
});

type ContainmentSection = z.output<typeof containment>;

/** Settings of every command outside the sandbox. */
export interface ContainmentSettings {
  /**
   * `reads`: what passes unasked because it only reads. `all`: what a rule or a person allowed as well, with the
   * working directories writable.
   */
  readonly scope: 'off' | 'reads' | 'all';
  /** The server does not start where there is nothing to hold them. */
  readonly isRequired: boolean;
  /** Without a jail, reading commands pass by their words alone; otherwise they are asked about. */
  readonly wordsAlone: boolean;
}

/** From the loosest to the strictest. */
const SCOPES = ['off', 'reads', 'all'] as const;

/** The settings file's word, which an administrator's policy may tighten and never loosens. */
export function mergeContainment(
  file: ContainmentSection | undefined,
  policy: ContainmentSection | undefined,
): ContainmentSettings {
  const scopes: readonly (string | undefined)[] = [file?.scope ?? 'reads', policy?.scope];
  const words = [file?.wordsAlone, policy?.wordsAlone].filter((word) => word !== undefined);
  return {
    scope: SCOPES.findLast((scope) => scopes.includes(scope)) ?? 'reads',
    isRequired: file?.required === true || policy?.required === true,
    wordsAlone: words.length > 0 && words.every(Boolean),
  };
}
