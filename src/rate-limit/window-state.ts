import type { RateWindow } from '../config/rate-limits.js';

/** How one window stands after a call was admitted or refused. */
export interface WindowState {
  readonly window: RateWindow;
  readonly remaining: number;
  /** Until the oldest admission leaves the window and makes room. */
  readonly resetMs: number;
}
