import type { RateWindow } from '../config/rate-limits.js';
import { DomainError } from '../errors/domain-error.js';

/** How one window stands after a call was admitted or refused. */
export interface WindowState {
  readonly window: RateWindow;
  /** Of the caller's limit, as far as this node knows. */
  readonly remaining: number;
  /** Until the oldest admission leaves the window and makes room. */
  readonly resetMs: number;
  /** After which a call that this window refuses may come again, where that is sooner. */
  readonly retryMs?: number | undefined;
  /** It has no room for what was asked. */
  readonly refuses?: boolean;
}

/** What one window has counted. */
export interface WindowUse {
  readonly window: RateWindow;
  readonly used: number;
  /** Until the oldest of it leaves the window; 0: there is none. */
  readonly resetMs: number;
}

/** What became of one call. */
export class Admission {
  constructor(
    readonly admitted: boolean,
    readonly windows: readonly WindowState[],
  ) {}

  /** The windows that refuse. */
  get exhausted(): WindowState[] {
    return this.windows.filter(({ refuses }) => refuses === true);
  }

  /** `Retry-After` of a refusal: a caller alone with its key who waits that long is admitted. */
  get retryAfterSeconds(): number {
    return Math.max(
      1,
      Math.ceil(Math.max(0, ...this.exhausted.map(({ resetMs, retryMs = resetMs }) => retryMs)) / 1_000),
    );
  }
}

/** Neither admitted nor refused: this node may not decide. */
export function unavailable(): DomainError {
  return new DomainError('unavailable', 'The service cannot count calls just now. Try again in a moment.');
}
