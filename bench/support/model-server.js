import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

const hrtimeMs = () => Number(process.hrtime.bigint()) / 1e6;

/**
 * The model that the handlers of all subjects call. `/timed` notes the time, `/second` takes a second, `/hang` never
 * ends; `/deltas` and `/v1/chat/completions`, which streams as servers with OpenAI's API do, wait for `speak`.
 */
export class ModelServer {
  /** @type {((atMs: number) => void)[]} */
  #waiting = [];
  #gate = Promise.resolve();
  /** @type {{ say: (text: string) => void, end: () => void }[]} */
  #speakers = [];

  static async start() {
    const model = new ModelServer();
    model.server = createServer((request, response) => model.#answer(request, response));
    await new Promise((done) => model.server.listen(0, '127.0.0.1', done));
    model.url = `http://127.0.0.1:${model.server.address().port}`;
    return model;
  }

  /**
   * Returns the time at which the next call of `/timed` arrives, in ms of the monotonic clock.
   * @returns {Promise<number>}
   */
  nextArrival() {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /**
   * Delays the answers of `/second`.
   * @returns {() => void} releases them, each a second later
   */
  holdSeconds() {
    let open;
    this.#gate = new Promise((resolve) => (open = resolve));
    return open;
  }

  /** @param {number} count of calls that wait for `speak` */
  async speakers(count) {
    while (this.#speakers.length < count) await delay(20);
  }

  /**
   * Lets all waiting calls emit words, each with its number and its time, and then end.
   * @param {number} perSecond words of each call
   * @param {number} seconds
   * @returns {Promise<number>} words of all calls
   */
  async speak(perSecond, seconds) {
    const words = perSecond * seconds;
    const speakers = this.#speakers.splice(0);
    const everyMs = 1_000 / perSecond;
    await Promise.all(
      speakers.map(async ({ say, end }, i) => {
        // Not all at the same moment.
        const began = performance.now() + (i / speakers.length) * everyMs;
        for (let word = 0; word < words; word++) {
          await delay(began + word * everyMs - performance.now());
          const at = (performance.timeOrigin + performance.now()).toFixed(2);
          say(`${word}:${at} `);
        }
        end();
      }),
    );
    return words * speakers.length;
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
    if (request.url === '/deltas') {
      response.writeHead(200, { 'Content-Type': 'application/x-ndjson' }).flushHeaders();
      const say = (text) => response.write(`{"type":"delta","delta":"${text}"}\n`);
      this.#speakers.push({ say, end: () => response.end() });
      return;
    }
    if (request.url === '/v1/chat/completions') {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
      this.#speakers.push(chatSpeaker(response));
      return;
    }
    const answer = () => response.setHeader('Content-Type', 'application/json').end('{"ok":true}');
    if (request.url === '/second') void this.#gate.then(() => setTimeout(answer, 1_000));
    else answer();
  }
}

/** Streams a chat as vLLM does: a chunk for each token, then the reason of its end and the usage. */
function chatSpeaker(response) {
  const head = {
    id: 'chatcmpl-8f2d1b7c9e6a4f30b5d2c1a0e9f87654',
    object: 'chat.completion.chunk',
    created: 1_780_000_000,
    model: 'meta-llama/Llama-3.1-8B-Instruct',
  };
  const send = (chunk) => response.write(`data: ${JSON.stringify({ ...head, ...chunk })}\n\n`);
  const choice = (delta, finish_reason = null) =>
    send({ choices: [{ index: 0, delta, logprobs: null, finish_reason }] });
  choice({ role: 'assistant', content: '' });
  return {
    say: (content) => choice({ content }),
    end: () => {
      choice({ content: '' }, 'stop');
      send({ choices: [], usage: { prompt_tokens: 12, total_tokens: 262, completion_tokens: 250 } });
      response.end('data: [DONE]\n\n');
    },
  };
}

export { hrtimeMs };
