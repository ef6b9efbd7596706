/**
 * Why something was decided: the rule and where it stands, or what else decided.
 */
import type { DecisionReason } from '../model/wire.ts';
import { TEXTS } from '../texts.ts';
import { Line } from './plain-text.tsx';

/** A reason in words. */
export function Reason({ reason, isBare = false }: { readonly reason: DecisionReason; readonly isBare?: boolean }) {
  const { type, rule, source, mode } = reason;
  return (
    <span className="reason">
      {!isBare && `${TEXTS.call.decidedBy} `}
      {TEXTS.reasons[type] ?? type}
      {rule !== undefined && (
        <>
          {' '}
          <code className="rule">
            <Line text={rule} />
          </code>
        </>
      )}
      {mode !== undefined && (
        <>
          {' '}
          <code className="rule">{mode}</code>
        </>
      )}
      {source !== undefined && <span className="muted"> ({TEXTS.sources[source] ?? source})</span>}
    </span>
  );
}
