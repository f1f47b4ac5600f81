import { now } from '../clock.js';

/** The start of a run, for which callers wait. */
export interface Start {
  readonly requestId: string;
  readonly modelId: string;
  readonly startedAt: number;
}

/** Runs, whatever executed them. */
export interface Starts {
  readonly runs: readonly Start[];
  ofRequest(requestId: string): readonly Start[];
}

/** The expected size and hash of a file. */
export interface FileMade {
  size: number;
  sha256: string;
}

/** One call of a model, as the model saw it. */
export interface ModelRun extends Start {
  readonly attempt: number;
  /** The process that called. */
  readonly node: string;
  /** A text in the output that identifies the run that computed it. */
  readonly nonce: string;
  /** The time at which the answer was sent or the connection closed; Infinity while the model works. */
  endedAt: number;
  /** True if the whole answer was sent. */
  answered: boolean;
  /** Log lines sent. */
  lines: number;
  /** The file of a run that answers with one. */
  file?: FileMade;
}

/** Every call of the models. */
export class RunLog implements Starts {
  readonly runs: ModelRun[] = [];
  private readonly byNonce = new Map<string, ModelRun>();
  private readonly byRequest = new Map<string, ModelRun[]>();

  start(run: Pick<ModelRun, 'requestId' | 'attempt' | 'modelId' | 'node'>): ModelRun {
    const entry: ModelRun = {
      ...run,
      nonce: `${run.requestId}.${run.attempt}.${this.runs.length}`,
      startedAt: now(),
      endedAt: Infinity,
      answered: false,
      lines: 0,
    };
    this.runs.push(entry);
    this.byNonce.set(entry.nonce, entry);
    const same = this.byRequest.get(run.requestId);
    if (same === undefined) this.byRequest.set(run.requestId, [entry]);
    else same.push(entry);
    return entry;
  }

  ofNonce(nonce: string): ModelRun | undefined {
    return this.byNonce.get(nonce);
  }

  ofRequest(requestId: string): readonly ModelRun[] {
    return this.byRequest.get(requestId) ?? [];
  }

  /** Runs under way, of one node or of all. */
  active(node?: string): ModelRun[] {
    return this.runs.filter((run) => run.endedAt === Infinity && (node === undefined || run.node === node));
  }
}
