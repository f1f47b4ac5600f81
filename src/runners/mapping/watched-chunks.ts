import type { Chunks } from '../../outgoing/answer-body.js';
import { RunFailure } from '../../queue/runs/runner.js';

/** A stream whose end mark has come may go on for so long, for example with its usage. */
const afterEndMs = 2_000;

const breakOptions = { code: 'model_unavailable', retryable: true, outage: 'costly' } as const;

export function broken(mark: string | undefined): RunFailure {
  const missing = mark === undefined ? '' : ` (${mark})`;
  return new RunFailure(`The model's stream ended without its end mark${missing}.`, breakOptions);
}

function silent(ms: number): RunFailure {
  return new RunFailure(`The model's stream was silent for ${ms / 1_000} s.`, breakOptions);
}

/** A stream that ends with a failure where it is silent for too long, or goes on after its end mark. */
export class WatchedChunks {
  private giveUp: (error: Error) => void = () => undefined;
  private endTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly chunks: Chunks,
    private readonly idleTimeoutMs: number | undefined,
  ) {}

  /** The end mark has come. */
  readonly marked = (): void => {
    this.endTimer ??= setTimeout(() => this.giveUp(broken(undefined)), afterEndMs);
  };

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    const { idleTimeoutMs } = this;
    const iterator = this.chunks[Symbol.asyncIterator]();
    let timer: NodeJS.Timeout | undefined;
    const givenUp = new Promise<never>((_, reject) => (this.giveUp = reject));
    givenUp.catch(() => undefined);
    try {
      for (;;) {
        if (idleTimeoutMs !== undefined)
          timer = setTimeout(() => this.giveUp(silent(idleTimeoutMs)), idleTimeoutMs);
        const next = await Promise.race([iterator.next(), givenUp]);
        clearTimeout(timer);
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      clearTimeout(timer);
      clearTimeout(this.endTimer);
      // Not awaited: a stream that is silent does not end.
      void Promise.resolve(iterator.return?.()).catch(() => undefined);
    }
  }
}
