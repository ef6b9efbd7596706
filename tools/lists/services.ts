/** What the tools of this domain are handed. */
import type { Limits } from '../../config/limits.ts';
import type { OpenSharedStore } from '../../src/log/shared-store.ts';

/** What they are handed. */
export interface ListToolServices {
  readonly limits: Limits;
  /** Keeps what sessions of one principal share. */
  readonly store: OpenSharedStore;
}
