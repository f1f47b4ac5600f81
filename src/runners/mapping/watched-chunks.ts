import type { Chunks } from '../../outgoing/answer-body.js';
import { RunFailure } from '../../queue/runs/runner.js';

/** A stream may continue for this long after its end mark, for example with its usage. */
const afterEndMs = 2_000;

const breakOptions = { code: 'model_unavailable', retryable: true, outage: 'costly' } as const;

export function broken(mark: string | undefined): RunFailure {
  const missing = mark === undefined ? '' : ` (${mark})`;
  return new RunFailure(`The model's stream ended without its end mark${missing}.`, breakOptions);
}

export function cut(): RunFailure {
  return new RunFailure("The model's stream ended within a line or an event.", breakOptions);
}

function silent(ms: number): RunFailure {
  return new RunFailure(`The model's stream was silent for ${ms / 1_000} s.`, breakOptions);
}

/**
 * Yields the chunks of a stream. Fails if the stream is silent for too long, or continues for too long after its end
 * mark.
 */
export class WatchedChunks {
  private endsAt = Infinity;

  constructor(
    private readonly chunks: Chunks,
    private readonly idleTimeoutMs: number | undefined,
  ) {}

  /** The end mark has come. */
  readonly marked = (): void => {
    this.endsAt = Math.min(this.endsAt, performance.now() + afterEndMs);
  };

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    const { idleTimeoutMs } = this;
    const iterator = this.chunks[Symbol.asyncIterator]();
    const isSilent = (): RunFailure => silent(idleTimeoutMs!);
    const isOver = (): RunFailure => broken(undefined);
    try {
      for (;;) {
        const leftMs = this.endsAt - performance.now();
        if (leftMs <= 0) throw isOver();
        const [ms, fault] =
          idleTimeoutMs !== undefined && idleTimeoutMs < leftMs
            ? [idleTimeoutMs, isSilent]
            : [leftMs, isOver];
        const next = await (ms === Infinity ? iterator.next() : within(ms, iterator.next(), fault));
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      // Not awaited: a stream that is silent does not end.
      void Promise.resolve(iterator.return?.()).catch(() => undefined);
    }
  }
}

/** Waits for a promise, at most this long. */
function within<T>(ms: number, promise: Promise<T>, fault: () => RunFailure): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(fault()), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
