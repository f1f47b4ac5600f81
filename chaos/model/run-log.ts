import { now } from '../clock.js';

/** What callers wait for: that a run of theirs has begun. */
export interface Start {
  readonly requestId: string;
  readonly modelId: string;
  readonly startedAt: number;
}

/** Runs, by whatever executed them. */
export interface Starts {
  readonly runs: readonly Start[];
  ofRequest(requestId: string): readonly Start[];
}

/** What the bytes of a file must be. */
export interface FileMade {
  size: number;
  sha256: string;
}

/** One call of a model, as the model saw it. */
export interface ModelRun extends Start {
  readonly attempt: number;
  /** The process that called. */
  readonly node: string;
  /** What the output carries, to know which run computed it. */
  readonly nonce: string;
  /** When the answer had gone out or the connection was closed; Infinity while the model is at work. */
  endedAt: number;
  /** Whether the whole answer went out. */
  answered: boolean;
  /** Log lines sent. */
  lines: number;
  /** Of one that answers with a file. */
  file?: FileMade;
}

/** Every call that the models got. */
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
