import type { Run } from '../../queue/runs/runner.js';

/** Answers at once with its input. */
export function runEcho({ input }: Run): Promise<string> {
  return Promise.resolve(input);
}
