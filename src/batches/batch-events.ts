import type { FinishedOutcome } from './batch.js';

/** For `@OnEvent`: lines of a batch are in its files. */
export const batchLines = 'batch.lines';

export interface BatchLines {
  outcomes: readonly FinishedOutcome[];
}
