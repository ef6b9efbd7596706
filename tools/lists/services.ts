/** Dependencies of the list tools. */
import type { OpenSharedStore } from '../../src/log/shared-store.ts';

/** Services of the list tools. */
export interface ListToolServices {
  /** Store shared by the sessions of one principal. */
  readonly store: OpenSharedStore;
}
