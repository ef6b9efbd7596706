/** Dependencies of the tools of this domain. */
import type { Settings } from '../../config/settings.ts';

/** The settings that Config shows: none of them is a secret. */
export type ServerToolServices = Pick<Settings, 'limits' | 'toolSearch' | 'durability'> &
  Partial<Pick<Settings, 'siblingAbort'>>;
