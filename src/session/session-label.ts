/**
 * Label of a session: the title and the archive mark that its principal gave it. Stored beside the log, since no call
 * depends on it.
 */
import type { FrameLog } from '../log/frame-log.ts';

/** A label. */
export interface SessionLabel {
  /** Replaces the title that the session began with; '' removes it. */
  readonly title?: string;
  readonly isArchived: boolean;
}

/** A change of a label; what is absent stays. */
export interface LabelChange {
  readonly title?: string | undefined;
  readonly isArchived?: boolean | undefined;
}

/** Label of a session that has none. */
export const NO_LABEL: SessionLabel = { isArchived: false };

/** Key of the fact with the label. */
const LABEL = 'label';

/** Read the saved label; a damaged one counts as none. */
export function savedLabel(log: Pick<FrameLog, 'fact'>, sessionId: string): SessionLabel {
  return (log.fact(sessionId, LABEL) as SessionLabel | null | undefined) ?? NO_LABEL;
}

/** Save a label. @returns Once it is on disk. @throws {GauntletError} `log_unavailable` */
export function saveLabel(log: Pick<FrameLog, 'save'>, sessionId: string, label: SessionLabel): Promise<void> {
  return log.save(sessionId, { facts: [[LABEL, label]] });
}

/** Apply a change. */
export function changedLabel(label: SessionLabel, { title, isArchived }: LabelChange): SessionLabel {
  return { ...label, ...(title !== undefined && { title }), ...(isArchived !== undefined && { isArchived }) };
}
