/** Dependencies of the list tools. */
import type { OpenSharedStore } from '../../src/log/shared-store.ts';

/** Services of TodoWrite. */
export interface ListToolServices {
  /** Store shared by the sessions of one principal. */
  readonly store: OpenSharedStore;
}
