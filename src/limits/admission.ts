import type { RateWindow } from '../config/rate-limits.js';
import { DomainError } from '../errors/domain-error.js';

/** How one window stands after a call was admitted or refused. */
export interface WindowState {
  readonly window: RateWindow;
  /** What is left of the caller's limit, as far as this node knows. */
  readonly remaining: number;
  /** Milliseconds until the oldest admission leaves the window and makes room. */
  readonly resetMs: number;
  /** Milliseconds after which a refused call may come again, where that differs from `resetMs`. */
  readonly retryMs?: number | undefined;
  /** The window has no room for what was asked. */
  readonly refuses?: boolean;
}

/** The use of one window. */
export interface WindowUse {
  readonly window: RateWindow;
  readonly used: number;
  /** Milliseconds until the oldest of it leaves the window; 0: there is none. */
  readonly resetMs: number;
}

/** The result of one call. */
export class Admission {
  constructor(
    readonly admitted: boolean,
    readonly windows: readonly WindowState[],
  ) {}

  /** The windows that refuse. */
  get exhausted(): WindowState[] {
    return this.windows.filter(({ refuses }) => refuses === true);
  }

  /** `Retry-After` of a refusal. A caller that is the only user of its key is admitted after this wait. */
  get retryAfterSeconds(): number {
    return Math.max(
      1,
      Math.ceil(Math.max(0, ...this.exhausted.map(({ resetMs, retryMs = resetMs }) => retryMs)) / 1_000),
    );
  }
}

/** Neither admitted nor refused: this node may not decide. */
export function unavailable(): DomainError {
  return new DomainError('unavailable', 'The service cannot check rate limits now. Try again in a moment.');
}
