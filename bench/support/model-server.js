import { createServer } from 'node:http';

const hrtimeMs = () => Number(process.hrtime.bigint()) / 1e6;

/** The model that the handlers of all subjects call: `/timed` notes when, `/second` takes one, `/hang` never ends. */
export class ModelServer {
  /** @type {((atMs: number) => void)[]} */
  #waiting = [];
  #gate = Promise.resolve();

  static async start() {
    const model = new ModelServer();
    model.server = createServer((request, response) => model.#answer(request, response));
    await new Promise((done) => model.server.listen(0, '127.0.0.1', done));
    model.url = `http://127.0.0.1:${model.server.address().port}`;
    return model;
  }

  /**
   * When the next call of `/timed` arrives, in ms of the monotonic clock.
   * @returns {Promise<number>}
   */
  nextArrival() {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /**
   * Holds the answers of `/second` back.
   * @returns {() => void} lets them go, each a second later
   */
  holdSeconds() {
    let open;
    this.#gate = new Promise((resolve) => (open = resolve));
    return open;
  }

  stop() {
    this.server.closeAllConnections();
    return new Promise((done) => this.server.close(done));
  }

  #answer(request, response) {
    const atMs = hrtimeMs();
    if (request.url === '/timed') this.#waiting.shift()?.(atMs);
    request.resume();
    if (request.url === '/hang') return;
    const answer = () => response.setHeader('Content-Type', 'application/json').end('{"ok":true}');
    if (request.url === '/second') void this.#gate.then(() => setTimeout(answer, 1_000));
    else answer();
  }
}

export { hrtimeMs };
