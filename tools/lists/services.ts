/** What the tools of this domain are handed. */
import type { OpenSharedStore } from '../../src/log/shared-store.ts';

/** What they are handed. */
export interface ListToolServices {
  /** Keeps what sessions of one principal share. */
  readonly store: OpenSharedStore;
}
