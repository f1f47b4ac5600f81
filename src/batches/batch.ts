import type { Priority } from '../auth/caller.js';

export const batchStatuses = [
  'validating',
  'in_progress',
  'finalizing',
  'completed',
  'failed',
  'expired',
  'cancelling',
  'cancelled',
] as const;
export type BatchStatus = (typeof batchStatuses)[number];

/** The longest time after which a batch expires. */
export const maxWindowDays = 7;

/** The two files that a batch writes. */
export type SegmentKind = 'output' | 'errors';

/** What became of a line. One that was not submitted cannot be `completed`. */
export type RefusedOutcome = 'failed' | 'cancelled' | 'expired';
export type FinishedOutcome = 'completed' | RefusedOutcome;

/** A line that keeps its batch from starting. */
export interface LineFault {
  /** The number of the line, from 1 on. null: the whole file is at fault. */
  line: number | null;
  /** A code of `problemCodes`, or `duplicate_custom_id`. */
  code: string;
  message: string;
}

/** Lines by what became of them. Their sum is the total. */
export interface BatchCounts {
  /** null: the input has not been read to its end yet. */
  total: number | null;
  /** Lines that wait, in the queue or in the input. */
  waiting: number;
  running: number;
  completed: number;
  failed: number;
  cancelled: number;
  expired: number;
}

/** A batch at one moment. Times are in milliseconds since 1970. */
export interface Batch {
  id: string;
  keyId: string;
  status: BatchStatus;
  /** The name of the format of its lines. */
  format: string;
  /** What the format has stored with the batch. */
  metadata: Readonly<Record<string, unknown>>;
  /** The model of lines that name none. */
  modelId: string | null;
  tag: string | null;
  priority: Priority;
  inputFileId: string;
  webhookUrl: string | null;
  windowSeconds: number;
  createdAtMs: number;
  /** The time at which its input was found to be valid. */
  startedAtMs: number | null;
  finalizingAtMs: number | null;
  cancellingAtMs: number | null;
  endedAtMs: number | null;
  expiresAtMs: number;
  counts: BatchCounts;
  /** Why it failed, at most the first hundred faults. */
  errors: readonly LineFault[];
  /** Bytes of the stored segments of each file. */
  outputBytes: number;
  errorBytes: number;
  /** The beginning of URLs about it. null: none was recorded, as in 1.0.0 with PUBLIC_BASE_URL. */
  baseUrl: string | null;
}

/** What a batch is made of. */
export interface NewBatch {
  /** The model of lines that name none, by its id or alias. */
  modelId?: string | undefined;
  /** A stored file of the caller, by its id, or the lines as they come. */
  input: { fileId: string } | { lines: AsyncIterable<Buffer>; announcedBytes: number };
  tag?: string | undefined;
  webhook?: string | undefined;
  /** `low` if left out. */
  priority?: Priority | undefined;
  /** The batch expires after this long. 24 h if left out. */
  windowSeconds?: number | undefined;
  /** How its lines are read and written. */
  format: string;
  metadata?: Readonly<Record<string, unknown>> | undefined;
  idempotencyKey?: string | undefined;
}
