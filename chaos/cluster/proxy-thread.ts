import { Worker } from 'node:worker_threads';

export type ProxyDeed = 'hang' | 'heal' | 'reset' | 'refuse' | 'slowDown' | 'beImpatient' | 'replaceAnswers';

export type ProxyOrder = { proxy: number } & (
  | { do: 'listen'; targets: PortCells }
  | { do: ProxyDeed }
  /** `draw`: a number from 0 to 1 that selects one of the connections. */
  | { do: 'muteChannel'; draw: number }
  | { do: 'close' }
);

/** Ports that may change, shared between threads. New connections use them in turn. */
export type PortCells = Int32Array<SharedArrayBuffer>;

export function portCells(count: number): PortCells {
  return new Int32Array(new SharedArrayBuffer(4 * count));
}

export function portCell(port = 0): PortCells {
  const cell = portCells(1);
  cell[0] = port;
  return cell;
}

/** A thread for the proxies, so that a burst that keeps the harness busy does not delay their traffic. */
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

  async open(targets: PortCells): Promise<RemoteProxy> {
    const proxy = this.opened++;
    return new RemoteProxy(await this.order({ proxy, do: 'listen', targets }), proxy, this);
  }

  /** Resolves when the order is carried out. */
  order(order: ProxyOrder): Promise<number> {
    const id = this.orders++;
    return new Promise((done) => {
      this.waiting.set(id, done);
      this.worker.postMessage({ id, order }, []);
    });
  }

  /** Closes all sockets first. Node 20 can wait forever for a write of a socket that is open when a thread is ended. */
  async stop(): Promise<void> {
    for (let proxy = 0; proxy < this.opened; proxy++) await this.order({ proxy, do: 'close' });
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

  async make(what: ProxyDeed): Promise<void> {
    await this.thread.order({ proxy: this.proxy, do: what });
  }

  async muteChannel(draw: number): Promise<void> {
    await this.thread.order({ proxy: this.proxy, do: 'muteChannel', draw });
  }
}
