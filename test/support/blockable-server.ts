import { Worker } from 'node:worker_threads';

/** Answers every call with `{}`. Its thread can be stopped, and it can stop this one. */
export class BlockableServer {
  private readonly gate = new Int32Array(new SharedArrayBuffer(4));
  private readonly worker = new Worker(program, { eval: true, workerData: this.gate });
  port = 0;

  /** `isBlocked`: it listens, but accepts no connection until `open`. Two more fit into its backlog. */
  async start({ isBlocked = false } = {}): Promise<this> {
    this.worker.postMessage(isBlocked ? 'listen and block' : 'listen', []);
    this.port = await new Promise<number>((resolve) => this.worker.once('message', resolve));
    return this;
  }

  open(): void {
    Atomics.store(this.gate, 0, 1);
    Atomics.notify(this.gate, 0);
  }

  /** Closes the server's connections. This thread stands still until they are closed. */
  closeConnections(): void {
    this.worker.postMessage('close', []);
    Atomics.wait(this.gate, 0, 0, 10_000);
  }

  async stop(): Promise<void> {
    await this.worker.terminate();
  }
}

const program = `
const { parentPort, workerData: gate } = require('node:worker_threads');
const sockets = [];
const server = require('node:http').createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
});
server.on('connection', (socket) => sockets.push(socket));
parentPort.on('message', async (message) => {
  if (message === 'close') {
    await Promise.all(sockets.map((socket) => new Promise((closed) => socket.end(closed))));
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
    return;
  }
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    if (message === 'listen and block') Atomics.wait(gate, 0, 0);
  });
});
`;
