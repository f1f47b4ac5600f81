import { Worker } from 'node:worker_threads';

export type ProxyOrder = { proxy: number } & (
  | { do: 'listen'; target: PortCell }
  | { do: 'hang' | 'heal' | 'reset' }
  /** `draw`: from 0 to 1, which of the connections. */
  | { do: 'mute'; draw: number }
);

/** A port that may change, shared between threads. */
export type PortCell = Int32Array<SharedArrayBuffer>;

export function portCell(port = 0): PortCell {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  cell[0] = port;
  return cell;
}

/** A thread for the proxies: a burst that keeps the harness busy must not delay what the nodes ask the database. */
export class ProxyThread {
  private readonly worker = new Worker(new URL('./proxy-worker.js', import.meta.url));
  private readonly waiting = new Map<number, (port: number) => void>();
  private opened = 0;
  private orders = 0;

  constructor() {
    this.worker.on('message', ({ id, port }: { id: number; port: number }) => {
      this.waiting.get(id)?.(port);
      this.waiting.delete(id);
    });
  }

  async open(target: PortCell): Promise<RemoteProxy> {
    const proxy = this.opened++;
    return new RemoteProxy(await this.order({ proxy, do: 'listen', target }), proxy, this);
  }

  /** Resolves when it was done. */
  order(order: ProxyOrder): Promise<number> {
    const id = this.orders++;
    return new Promise((done) => {
      this.waiting.set(id, done);
      this.worker.postMessage({ id, order }, []);
    });
  }

  async stop(): Promise<void> {
    await this.worker.terminate();
  }
}

/** A proxy in the thread. */
export class RemoteProxy {
  constructor(
    readonly port: number,
    private readonly proxy: number,
    private readonly thread: ProxyThread,
  ) {}

  async make(what: 'hang' | 'heal' | 'reset'): Promise<void> {
    await this.thread.order({ proxy: this.proxy, do: what });
  }

  async muteChannel(draw: number): Promise<void> {
    await this.thread.order({ proxy: this.proxy, do: 'mute', draw });
  }
}
