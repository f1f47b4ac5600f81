import type { FieldError } from '../errors/domain-error.js';
import type { RunnerOptions, Taker } from './runner-kind.js';

/** The failures after which another attempt is made, and the delay until then. */
export interface Retry {
  readonly baseMs: number;
  readonly capMs: number;
  readonly on: readonly string[];
}

export const orders = ['fair', 'arrival'] as const;
export type Order = (typeof orders)[number];

/**
 * A request is not run again after this many of its runs were lost, because it may have killed its nodes or workers.
 */
export const defaultLostAttempts = 2;

/** How a model is paused: submissions wait, or are refused. */
export const pauses = ['hold', 'reject'] as const;
export type Pause = (typeof pauses)[number];

/** Models that share slots, because they share a GPU. */
export interface Group {
  readonly id: string;
  /** Runs of all its models at once, over all nodes and workers. */
  readonly concurrency: number;
  /** A model whose turn it is goes first for this long while it has work; 0: the longest wait always goes first. */
  readonly stayMs: number;
}

/** The slots of a model that are kept for a priority and those above it. */
export interface Reserve {
  readonly high: number;
  readonly normal: number;
}

export const noReserve: Reserve = Object.freeze({ high: 0, normal: 0 });

/** Returns how many slots runs below high may use, and those below normal. At least one is left to them. */
export function slotsBelow(concurrency: number, { high, normal }: Reserve): [number, number] {
  return [Math.max(1, concurrency - high), Math.max(1, concurrency - high - normal)];
}

/** One endpoint of `models.yaml`, checked and ready to use. */
export interface FileModel {
  readonly id: string;
  /** Other names under which adapters serve it. */
  readonly aliases: readonly string[];
  readonly description: string;
  readonly runner: RunnerOptions;
  readonly takenBy: Taker;
  /** Runs at once, over all nodes and workers; null: no bound, because workers run it. */
  readonly concurrency: number | null;
  /** The models that it shares slots with; null: its slots are its own. */
  readonly group: Group | null;
  readonly reserve: Reserve;
  readonly timeoutMs: number;
  /** A request may wait this long after its submission, or after its scheduled time; null: forever. */
  readonly expiresMs: number | null;
  readonly attempts: number;
  /** The number of lost runs after which a request fails. */
  readonly lostAttempts: number;
  readonly retry: Retry;
  /** True if only probes are sent to it while it is away. */
  readonly circuit: boolean;
  /** `fair`: keys take turns. `arrival`: requests run in the order in which they came. */
  readonly order: Order;
  /** At most this many of its requests may wait; null: any number. */
  readonly maxWaiting: number | null;
  /** A completed request is kept this long; null: the service's default. */
  readonly retentionMs: number | null;
  /** Its input and output are kept this long; null: as long as the request. */
  readonly retentionPayloadMs: number | null;
  /** JSON Schema (draft 2020-12) of the input, as the file has it; null: any object. */
  readonly inputSchema: Readonly<Record<string, unknown>> | null;
  /** Returns what is wrong with the input; empty: it fits. */
  validate(input: unknown): FieldError[];
  /** An input of more bytes is read and checked in a thread. */
  readonly maxInlineBytes: number;
  /**
   * Returns what should be changed in its entry of the file, with the place in the file. It is a function, so that a
   * model whose place has changed counts as the same model.
   */
  warnings(): readonly string[];
}

/** A model with the overrides of operators. */
export interface Model extends FileModel {
  /** How it is paused, so that nothing of it starts; null: it is not paused. */
  readonly paused: Pause | null;
}

/** Accepts what applications call a model of another service, such as `gpt-4o-mini` or `llama3:8b`. */
export function isAlias(text: string): boolean {
  return /^[A-Za-z0-9][\w.:/@-]{0,255}$/.test(text);
}

/**
 * Returns whether a text of up to 8 segments can name a model. `requests` belongs to the routes of requests, and
 * `openapi.json` at the end to the description of a model.
 */
export function isModelId(text: string): boolean {
  const segments = /^(?!requests(\/|$))[A-Za-z0-9][\w.-]{0,63}(\/[A-Za-z0-9][\w.-]{0,63}){0,7}$/;
  return text.length <= 256 && segments.test(text) && !/(?:^|\/)openapi\.json$/i.test(text);
}

/** Returns whether a text can name a group of models. */
export function isGroupId(text: string): boolean {
  return /^[A-Za-z0-9][\w.-]{0,63}$/.test(text);
}
