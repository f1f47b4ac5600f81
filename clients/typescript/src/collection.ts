import type { FieldError, ProblemCode, QueuedRequest, Status } from './types.js';

/** What the service answers about many requests, until its description has it. */
export interface Page {
  data: Status[];
  /** null: this is the last page. */
  next_cursor: string | null;
}

/** The request, or why there is none. */
export type BatchResult =
  | ({ status: 202 } & QueuedRequest)
  | { status: number; code: ProblemCode; detail: string; errors?: FieldError[]; request_id?: undefined };

export interface CancelCounts {
  cancelled: number;
  cancellation_requested: number;
  already_completed: number;
  unknown: number;
  /** Others fit the filter still: call again. */
  more: boolean;
}
