import type { RunFacts } from './claimed-run.js';
import type { LogLevel, Usage } from './event-sender.js';

/** One attempt of one request, as its handler sees it. */
export interface Run extends RunFacts {
  /** The input as JSON text, exactly as it was submitted. JavaScript loses precision above 2^53. */
  readonly inputText: string;
  /** Aborted with a `Stopped` when the run must stop; a handler should end soon after. */
  readonly signal: AbortSignal;
  /** Adds a log line, which shows in the status and its stream. Never waits. */
  log(message: string, level?: LogLevel, source?: 'stdout' | 'stderr'): void;
  /** `value` is from 0 to 1. Only the last value shows. */
  progress(value: number, message?: string): void;
  /** Reports what the run has used so far, such as `{ tokens: 48 }`. The last one becomes `metrics.usage`. */
  usage(used: Usage): void;
  /**
   * Adds a part of the output, which shows at once. Consecutive texts are joined, other values listed, unless the
   * handler returns an output.
   */
  delta(value: unknown): void;
  /**
   * Returns the bytes of a file of the service, or of an origin that `downloads` allows. Only complete files are
   * returned; otherwise it rejects with a `TransferError`.
   */
  download(url: string): Promise<Uint8Array>;
  /** The same, into a file, which appears only when it is complete. Returns its path. */
  download(url: string, options: { to: string }): Promise<string>;
  /** Stores a file (bytes, a Blob, or a path) and returns its URL for the output. */
  upload(name: string, content: Uint8Array | Blob | string, contentType?: string): Promise<string>;
}

/** The handler defines the type of its input. models.yaml may validate it. */
export type Parsed = ReturnType<typeof JSON.parse>;

/** Returns the output, or a generator of deltas. A value that the generator returns is the output. */
export type Handler<Input = Parsed> = (input: Input, run: Run) => unknown;

export interface ServeOptions {
  /** Concurrent runs, over all models; default 1. A function is called before each claim. */
  concurrency?: number | (() => number);
  /** URL of the service; default `NOWSERVING_URL`. */
  url?: string;
  /** Key with the scope `work`; default `NOWSERVING_KEY`. */
  key?: string;
  /** A name for people; default the host's name. */
  name?: string;
  version?: string;
  labels?: Record<string, string>;
  /** Milliseconds (in Python seconds) for which runs may go on after SIGTERM or SIGINT; default 25,000. */
  grace?: number;
  /**
   * Milliseconds (in Python seconds) after which a handler that has not returned, although its run is over, ends the
   * process with exit code 70; default 30,000. First the worker hands back its other runs.
   */
  stuck?: number;
  /**
   * A URL or a function. Nothing is claimed until the URL is answered 2xx, or the function gives something true, within
   * 5 s.
   */
  ready?: string | (() => unknown);
  /** Origins that `run.download` may call besides the service, such as `https://images.example.com`; `*`: any. */
  downloads?: readonly string[];
  /** Drains the worker, as SIGTERM does. */
  signal?: AbortSignal;
  /** Prints what happens to the worker; default standard error. */
  say?: (line: string) => void;
}
