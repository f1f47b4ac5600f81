import type { Model } from '../../models/model.js';
import type { ProblemCode } from '../../errors/problem-codes.js';
import type { RunOptions } from '../submit/submission-options.js';
import type { Usage } from './usage.js';
import type { TraceContext } from '../../tracing/trace-context.js';
import { withModelMessage } from '../../tools/model-message.js';

export type LogLevel = 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';
export type LogSource = 'queue' | 'runner' | 'stdout' | 'stderr';

/** The reason for which a run's signal was aborted; it is the `reason` of the signal. */
export type AbortReason = 'cancelled' | 'timed_out' | 'shutdown' | 'lost';

/** What a model server may be sent about a request. */
export interface RequestFacts {
  /** The name of its key; '': it was submitted without one. */
  readonly key: string;
  readonly priority: string;
  /** The values of its tags by name. */
  readonly tags: ReadonlyMap<string, string>;
}

/** A run at a server that continues without the connection that began it. */
export interface FollowedRun {
  /** The number of the start that began it. */
  readonly start: number;
  /** The address of the model that it was sent to. */
  readonly address: string;
  /** What the runner keeps of the server's first answer; null: the run was sent, and perhaps not received. */
  readonly answer: Readonly<Record<string, string | number>> | null;
}

/** One attempt of one request, as a runner gets it. */
export interface Run {
  readonly requestId: string;
  readonly model: Model;
  readonly attempt: number;
  /** The number of this start of the request. Unlike `attempt`, it also counts starts that used up no attempt. */
  readonly start: number;
  /** The address, of several of its model, that the run is sent to; undefined: the model has one or none. */
  readonly address?: string | undefined;
  /** What an earlier run of this attempt, of this node or of a lost one, began at the server; undefined: nothing. */
  readonly followed?: FollowedRun | undefined;
  /** The input as JSON text, exactly as it was submitted. */
  readonly input: string;
  /** Aborted with an `AbortReason` when the run must stop; a runner should reject soon after. */
  readonly signal: AbortSignal;
  /** What its submission asked for. */
  readonly options: RunOptions;
  /** The trace context to send to the model; undefined: there is none. */
  readonly trace?: TraceContext | undefined;
  /** The node's memory for parts of the result that cannot be stored now. */
  readonly memory: { take(bytes: number): boolean; release(bytes: number): void };
  /** Reads what the run does not have with it. */
  facts(): Promise<RequestFacts>;
  /** Keeps what other nodes must know to follow the run, or to cancel it. Rejects if the run is another node's by now. */
  keepFollowed(answer: FollowedRun['answer']): Promise<void>;
  /** Forgets what was kept, because the server has not begun the run, or has given it up. */
  forgetFollowed(): Promise<void>;
  /**
   * Called once nothing is left to get from the model, also no further file of the output. Storing the result is left,
   * and no timeout ends that.
   */
  made(): void;
  /** Called once the model is connected and the input is on its way: from here on it may have been read. */
  reached(): void;
  /** Appends a log line. Never throws, never waits; the queue applies the caps. */
  log(level: LogLevel, message: string, source?: LogSource): void;
  /** Sets the progress, from 0 to 1; the last value is shown. Never throws, never waits. */
  progress(value: number, message?: string): void;
  /** Sets what the run has used so far; the last value is kept. Never throws, never waits. */
  usage(usage: Usage): void;
  /** Emits a part of the output, as JSON text, for readers while it grows. Never throws, never waits. */
  delta(json: string): void;
  /**
   * Emits a chunk of the model's stream, as JSON text without a line break, for readers of the server's own API, with
   * the deltas that it has, in place of `delta`. All chunks of a run are emitted, or none. Never throws, never waits.
   */
  chunk(json: string, deltas: readonly string[]): void;
}

export interface Runner {
  /**
   * Returns the output as JSON text, or its bytes; undefined: the output that its deltas make, strings joined, others
   * listed. Rejects with a `RunFailure`; any other error is a `model_error` that may be retried.
   */
  run(run: Run): Promise<string | Buffer | undefined>;
  /** Cancels a run at its server, which nobody follows any more. Rejects if the server could not be asked. */
  cancel?(run: FollowedRun & Pick<Run, 'requestId' | 'attempt' | 'model' | 'facts'>): Promise<void>;
  /** Asks the server at an address of a model whether it is ready. Rejects with a `RunFailure` if it is not. */
  checkHealth?(model: Model, address: string, signal: AbortSignal): Promise<void>;
}

/** `free`: the run never reached its model, so it used up no attempt. `costly`: its input may have broken the model. */
export type Outage = 'free' | 'costly';

export interface RunFailureOptions {
  code: ProblemCode & ('model_error' | 'model_unavailable');
  /** True: another attempt may succeed. */
  retryable: boolean;
  /** The status that the caller gets; undefined: the status of the code. */
  status?: number;
  /** The model asked to wait this long before the next attempt. */
  retryAfterMs?: number;
  /** Set if the model is away. */
  outage?: Outage;
  /**
   * True: the answer came as soon as that of a proxy whose server is down. The `costly` outage of a probe is then free.
   */
  isPrompt?: boolean;
  /** What the model answered, as a JSON value. */
  details?: unknown;
  /** The model's message in one line, for operators. It is not shown to callers, because it may contain anything. */
  modelMessage?: string;
  cause?: unknown;
}

/** A failure that a runner chooses. `message` is shown to the caller: no secrets, no stack. */
export class RunFailure extends Error {
  readonly options: RunFailureOptions;

  /** Without options, it is a `model_error` that is not retried. */
  constructor(message: string, options: Partial<RunFailureOptions> = {}) {
    super(message, { cause: options.cause });
    this.name = 'RunFailure';
    this.options = { code: 'model_error', retryable: false, ...options };
  }

  /** The message for operators. */
  get fullMessage(): string {
    return withModelMessage(this.message, this.options.modelMessage);
  }
}

/**
 * The result of a run can neither be stored now nor kept in memory. The run is requeued and uses up no attempt,
 * because its model did nothing wrong.
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
