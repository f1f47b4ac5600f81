import type { Model } from '../../models/model.js';
import type { ProblemCode } from '../../errors/problem-codes.js';
import type { TraceContext } from '../../tracing/trace-context.js';

export type LogLevel = 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';
export type LogSource = 'queue' | 'runner' | 'stdout' | 'stderr';

/** Why a run's signal was aborted; it is the `reason` of the signal. */
export type AbortReason = 'cancelled' | 'timed_out' | 'shutdown' | 'lost';

/** What a runner is handed: one attempt of one request. */
export interface Run {
  readonly requestId: string;
  readonly model: Model;
  readonly attempt: number;
  /** Of those that its model has, the one that it is to be sent to; undefined: it has one or none. */
  readonly address?: string | undefined;
  /** The input as JSON text, exactly as it was submitted. */
  readonly input: string;
  /** Aborted with an `AbortReason` when the run must stop; a runner should reject soon after. */
  readonly signal: AbortSignal;
  /** What the model is to be told of its trace; undefined: it has none. */
  readonly trace?: TraceContext | undefined;
  /** The node's memory for what of its result cannot be stored now. */
  readonly held: { take(bytes: number): boolean; release(bytes: number): void };
  /** Said once the model has done all of its part: what is left is to store it, which no timeout ends. */
  made(): void;
  /** Said once the model is connected and the input on its way: from here on it may have been read. */
  reached(): void;
  /** Appends a log line. Never throws, never waits; caps are the queue's business. */
  log(level: LogLevel, message: string, source?: LogSource): void;
  /** How far it is, from 0 to 1; the last value is shown. Never throws, never waits. */
  progress(value: number, message?: string): void;
  /** A part of the output, as JSON text, for those who read it while it grows. Never throws, never waits. */
  delta(json: string): void;
}

export interface Runner {
  /**
   * The output as JSON text, or its bytes; undefined: what its deltas make, strings joined, others listed. Rejects with a `RunFailure`; anything
   * else is a `model_error` that may be tried again.
   */
  run(run: Run): Promise<string | Buffer | undefined>;
}

/** `free`: the run never reached its model, so it used up no attempt; `costly`: its input may be what broke the model. */
export type Outage = 'free' | 'costly';

export interface RunFailureOptions {
  code: ProblemCode & ('model_error' | 'model_unavailable');
  /** Whether another attempt may succeed. */
  retryable: boolean;
  /** The status the caller will see; default: the code's. */
  status?: number;
  /** The model asked to wait this long before the next attempt. */
  retryAfterMs?: number;
  /** The model is away. */
  outage?: Outage;
  /** What the model said, as a JSON value. */
  details?: unknown;
  /** What it said, in a line, for those who run the service: callers are not shown it, as it may hold anything. */
  modelMessage?: string;
  cause?: unknown;
}

/** How a run fails on purpose. `message` is shown to the caller: no secrets, no stack. */
export class RunFailure extends Error {
  readonly options: RunFailureOptions;

  /** By itself a `model_error` that another attempt would not mend. */
  constructor(message: string, options: Partial<RunFailureOptions> = {}) {
    super(message, { cause: options.cause });
    this.name = 'RunFailure';
    this.options = { code: 'model_error', retryable: false, ...options };
  }

  /** For those who run the service. */
  get fullMessage(): string {
    const { modelMessage } = this.options;
    return modelMessage === undefined ? this.message : `${this.message.replace(/\.$/, '')}: ${modelMessage}`;
  }
}

/**
 * The result of a run can neither be stored now nor held in memory: the run is given back and uses up no attempt, for
 * its model did nothing wrong.
 */
export class ResultUnstored extends Error {
  /** `why`: a sentence. */
  constructor(
    readonly why: string,
    cause: unknown,
  ) {
    super(`The output could not be stored: ${why}`, { cause });
    this.name = 'ResultUnstored';
  }
}
