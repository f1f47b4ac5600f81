import type { FieldError } from '../errors/domain-error.js';
import type { RunnerOptions } from './runner-kind.js';

/** After which failures another attempt is made, and how long until then. */
export interface Retry {
  readonly baseMs: number;
  readonly capMs: number;
  readonly on: readonly string[];
}

export const orders = ['fair', 'arrival'] as const;
export type Order = (typeof orders)[number];

/** How a model is paused: submissions wait, or are refused. */
export const pauses = ['hold', 'reject'] as const;
export type Pause = (typeof pauses)[number];

/** One endpoint of `models.yaml`, checked and ready to use. */
export interface FileModel {
  readonly id: string;
  readonly description: string;
  readonly runner: RunnerOptions;
  /** Runs at once, over all nodes and workers; null: no bound, for workers run it. */
  readonly concurrency: number | null;
  readonly timeoutMs: number;
  /** A request may wait this long from its submission on; null: for ever. */
  readonly expiresMs: number | null;
  readonly attempts: number;
  readonly retry: Retry;
  /** Whether nothing but probes is sent to it while it is away. */
  readonly circuit: boolean;
  /** Whether keys take turns, or all go as they came. */
  readonly order: Order;
  /** Of its requests, how many may wait; null: any number. */
  readonly maxWaiting: number | null;
  /** A completed request is kept this long; null: the service's default. */
  readonly retentionMs: number | null;
  /** Its input and output are kept this long; null: as long as the request. */
  readonly retentionPayloadMs: number | null;
  /** JSON Schema (draft 2020-12) of the input, as the file has it; null: any object. */
  readonly inputSchema: Readonly<Record<string, unknown>> | null;
  /** What is wrong with the input; empty: it fits. */
  validate(input: unknown): FieldError[];
  /** An input of more bytes is read and checked in a thread. */
  readonly maxInlineBytes: number;
  /** What of its entry in the file should be otherwise, with the place. A function: a place is no part of what the model is. */
  warnings(): readonly string[];
}

/** With what operators have set beside the file. */
export interface Model extends FileModel {
  /** Nothing of it starts; null: it is not paused. */
  readonly paused: Pause | null;
}

/**
 * Whether a text of up to 8 segments can name a model; `requests` is taken by the routes of requests, `openapi.json` at
 * the end by the description of a model.
 */
export function isModelId(text: string): boolean {
  const segments = /^(?!requests(\/|$))[A-Za-z0-9][\w.-]{0,63}(\/[A-Za-z0-9][\w.-]{0,63}){0,7}$/;
  return text.length <= 256 && segments.test(text) && !/(?:^|\/)openapi\.json$/i.test(text);
}
