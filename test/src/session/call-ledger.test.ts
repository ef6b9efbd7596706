import { expect, it } from 'vitest';
import { abortTree } from '../../../src/base/abort-tree.ts';
import { turnBudget } from '../../../src/schedule/turn-budget.ts';
import { CallLedger } from '../../../src/session/call-ledger.ts';
import { SettledCallIndex } from '../../../src/session/restore/settled-call-index.ts';
import { MemoryLog } from '../../helpers/memory-log.ts';

it('takes note of a save of more turns than fit into one call', () => {
  const start = { hasFacts: false, maxUnknown: 1 };
  const ledger = new CallLedger(new SettledCallIndex(new MemoryLog(), 'ses_1', start), 8);
  for (let count = 1; count <= 200_000; count++) {
    ledger.end(ledger.addTurn(`turn_${count}`, { node: abortTree() }, turnBudget(0)), count);
  }
  ledger.saved(ledger.unsaved);
  expect(ledger.unsavedCount).toBe(0);
  expect(ledger.turn('turn_1')).toBeUndefined();
  expect(ledger.turn('turn_200000')?.endSeq).toBe(200_000);
});
