import type { LogLevel } from './event-sender.js';

/** One attempt of one request, in the hands of its handler. */
export interface Run {
  readonly requestId: string;
  readonly model: string;
  /** The input as JSON text, as it was submitted: numbers of JavaScript end at 2^53. */
  readonly inputText: string;
  /** Failed and lost runs so far + 1. */
  readonly attempt: number;
  readonly deadline: Date | undefined;
  readonly traceparent: string | undefined;
  /** Aborted with a `Stopped` when the run must stop; a handler should end soon after. */
  readonly signal: AbortSignal;
  /** Shows in the status and its stream. Never waits. */
  log(message: string, level?: LogLevel, source?: 'stdout' | 'stderr'): void;
  /** `value` is from 0 to 1; the last one shows. */
  progress(value: number, message?: string): void;
  /** A piece of the output, shown at once. Texts in a row are joined, others listed, unless the handler gives an output. */
  delta(value: unknown): void;
  /**
   * The bytes of a file of the service, or of an origin that `downloads` allows. Only a whole file is handed over; one
   * that cannot be had whole is a `TransferError`.
   */
  download(url: string): Promise<Uint8Array>;
  /** The same, into a file, which is there only when it is whole: its path. */
  download(url: string, options: { to: string }): Promise<string>;
  /** Keeps a file (bytes, a Blob, or the path of one): the URL for the output. */
  upload(name: string, content: Uint8Array | Blob | string, contentType?: string): Promise<string>;
}

/** A handler says itself what its input is: models.yaml may hold it to that. */
export type Parsed = ReturnType<typeof JSON.parse>;

/** The output, or a generator of deltas; what the generator returns is the output, if it returns something. */
export type Handler<Input = Parsed> = (input: Input, run: Run) => unknown;

export interface ServeOptions {
  /** Runs at once, of all models; 1 if left out. */
  concurrency?: number;
  /** Of the service; `NOWSERVING_URL` if left out. */
  url?: string;
  /** With the scope `work`; `NOWSERVING_KEY` if left out. */
  key?: string;
  /** For people; the host's name if left out. */
  name?: string;
  version?: string;
  labels?: Record<string, string>;
  /** Milliseconds that runs may go on for after SIGTERM or SIGINT; 25,000 if left out. */
  grace?: number;
  /** Origins that `run.download` may ask beside the service, such as `https://images.example.com`; `*`: any. */
  downloads?: readonly string[];
  /** Drains as SIGTERM does. */
  signal?: AbortSignal;
  /** Where the worker says what happens to it; standard error if left out. */
  say?: (line: string) => void;
}

/** As the service hands it out. */
export interface ClaimedRun {
  request_id: string;
  attempt: number;
  model_id: string;
  lease_token: string;
  lease_s: number;
  deadline_at?: string | null;
  /** JSON text. */
  input?: string | undefined;
  input_url?: string;
  traceparent?: string | null;
}
