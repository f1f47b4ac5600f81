import type { RateWindow } from '../config/rate-limits.js';

/** How one window stands after a call was admitted or refused. */
export interface WindowState {
  readonly window: RateWindow;
  readonly remaining: number;
  /** Until the oldest admission leaves the window and makes room. */
  readonly resetMs: number;
}

export interface Admission {
  readonly admitted: boolean;
  readonly windows: readonly WindowState[];
}

/** The windows that refuse: those without room. */
export function exhausted(admission: Admission): WindowState[] {
  return admission.windows.filter(({ remaining }) => remaining === 0);
}

/** When a refused call may be admitted at the earliest. */
export function retryAfterMs(admission: Admission): number {
  return Math.max(0, ...exhausted(admission).map(({ resetMs }) => resetMs));
}
