import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { now, sleep } from '../clock.js';
import type { Cluster } from '../cluster/cluster.js';
import { portCells, ProxyThread } from '../cluster/proxy-thread.js';
import type { Ledger } from '../load/ledger.js';
import { WorkLog } from './work-log.js';
import { type Language, WorkerProcess, type WorkerOptions } from './worker-process.js';

const size = 6;
const lookEveryMs = 100;

/**
 * The workers: half in Python, half in TypeScript, each behind its own proxy, which leads to all nodes that serve
 * calls.
 */
export class Fleet {
  readonly workers: WorkerProcess[] = [];
  /** All processes of the run, including twins. */
  readonly processes: WorkerProcess[] = [];
  readonly log: WorkLog;
  private readonly directory: string;
  private readonly proxies = new ProxyThread();
  private readonly ports: ReturnType<typeof portCells>;
  private isWatching = true;
  private twins = 0;

  constructor(
    private readonly cluster: Cluster,
    private readonly ledger: Ledger,
  ) {
    this.directory = join(cluster.directory, 'workers');
    mkdirSync(this.directory);
    this.log = new WorkLog(this.directory);
    this.ports = portCells(cluster.apiNodes.length);
  }

  async start(): Promise<void> {
    process.once('exit', this.abandon);
    this.notePorts();
    for (let n = 1; n <= size; n++) {
      const language = n % 2 === 0 ? 'Python' : 'TypeScript';
      const worker = await this.make(`worker-${n}`, `worker-${n}`, language);
      this.workers.push(worker);
      worker.start();
    }
    void this.watch();
  }

  /** Creates, but does not start, a second process under the name of another. */
  async twinOf({ options: { workerId, language } }: WorkerProcess): Promise<WorkerProcess> {
    return this.make(`${workerId}-twin-${++this.twins}`, workerId, language);
  }

  /** Lets held runs end; later ones are held again. */
  release(): void {
    writeFileSync(join(this.directory, 'release'), String(now() + performance.timeOrigin));
  }

  wasHit(workerId: string, from: number, to: number): boolean {
    return this.processes.some((worker) => worker.workerId === workerId && worker.wasHit(from, to));
  }

  /**
   * Returns whether another process of that name was there, or had just stopped: a stopping process has time to end
   * its runs.
   */
  hadTwin(workerId: string, at: number): boolean {
    const afterMs = 5_000;
    return this.processes.some(
      ({ workerId: id, name, startedAt, downs }) =>
        id === workerId &&
        name !== workerId &&
        startedAt < at &&
        (downs.at(-1)?.to ?? Infinity) > at - afterMs,
    );
  }

  async stop(): Promise<void> {
    this.isWatching = false;
    await Promise.all(this.processes.map((worker) => worker.killForGood()));
    await this.proxies.stop();
    this.log.refresh();
    process.off('exit', this.abandon);
  }

  private async make(name: string, workerId: string, language: Language): Promise<WorkerProcess> {
    const { cluster, directory, log } = this;
    const proxy = await this.proxies.open(this.ports);
    const { key } = cluster.callers.worker;
    const options: WorkerOptions = {
      name,
      workerId,
      language,
      directory,
      key,
      proxy,
      log,
      root: cluster.root,
    };
    const worker = new WorkerProcess(options);
    worker.onUnexpectedExit = (output) =>
      this.ledger.violate('no worker ends by itself', `${name}: ${output}`);
    this.processes.push(worker);
    if (!this.isWatching) await worker.killForGood();
    return worker;
  }

  private async watch(): Promise<void> {
    while (this.isWatching) {
      this.log.refresh();
      this.notePorts();
      await sleep(lookEveryMs);
    }
  }

  /** A node may have another port after a restart. */
  private notePorts(): void {
    for (const [i, { url }] of this.cluster.apiNodes.entries()) {
      Atomics.store(this.ports, i, Number(new URL(url).port));
    }
  }

  private readonly abandon = (): void => {
    for (const worker of this.processes) worker.abandon();
  };
}
