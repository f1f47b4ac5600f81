import type { ServerResponse } from 'node:http';
import type { Call } from '../model-server.js';
import { png } from './openai.js';

interface Prediction {
  readonly id: string;
  status: 'processing' | 'succeeded' | 'failed' | 'canceled';
  readonly history: string[];
  readonly chunks: string[];
  readonly readers: Set<ServerResponse>;
}

/**
 * Cog's HTTP server, after https://github.com/replicate/cog/blob/main/docs/http.md. It runs one prediction at a time and
 * forgets it when it ends. A prompt says what comes of it: `fail`, `a picture`, `hold` (it goes on until it is released),
 * or anything else.
 *
 * What the page leaves open is as in crates/coglet/src/transport/http/routes.rs: every `accept` that names
 * text/event-stream asks for a stream, whatever its weight; and a model without @streaming answers 406 before it begins.
 */
export class Cog {
  isBusy = false;
  /** The model has the decorator @streaming. */
  isStreaming = false;
  /** True: a prediction ends with its last reader. Versions differ in that. */
  endsWithReaders = false;
  /** Events that are kept for those who come back. */
  historyCapacity = 1_024;
  /** The ids of predictions that have begun. */
  readonly begun: string[] = [];
  readonly cancelled: string[] = [];
  private current: Prediction | undefined;
  isSetUp = true;

  readonly respond = (call: Call): void => {
    const { method, url, headers, body, response } = call;
    const answer = (status: number, value: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    };
    if (url === '/health-check') {
      const ready = this.isBusy ? 'BUSY' : 'READY';
      return answer(200, { status: this.isSetUp ? ready : 'STARTING', setup: null, version: {} });
    }
    const [, id = '', verb] = /\/predictions(?:\/([^/]+)(?:\/(cancel))?)?$/.exec(url) ?? [];
    if (verb === 'cancel') {
      this.cancelled.push(id);
      if (this.current?.id !== id) return answer(404, {});
      this.end(this.current, 'canceled');
      return answer(200, {});
    }
    const wantsStream = (headers.accept ?? '')
      .split(',')
      .some((kind) => kind.trim().split(';')[0] === 'text/event-stream');
    if (wantsStream && !this.isStreaming)
      return answer(406, { error: 'This model does not support streaming responses.' });
    if (method === 'PUT' && this.current?.id === id) {
      if (wantsStream) return this.stream(this.current, response);
      return answer(202, { id, status: this.current.status, logs: '', metrics: {} });
    }
    const { input } = JSON.parse(body) as { input?: { prompt: string } };
    if (input === undefined)
      return answer(422, { detail: [{ loc: ['body', 'input'], msg: 'Field required' }] });
    if (this.isBusy || this.current !== undefined)
      return answer(409, { error: 'At capacity - all prediction slots busy', status: 'failed' });
    const name = method === 'PUT' ? id : `pred_${this.begun.length}`;
    this.begun.push(name);
    if (wantsStream) return this.begin(name, input.prompt, response);
    answer(200, { id: name, ...endOf(input.prompt) });
  };

  /** The number of streams of the prediction in progress. */
  get readers(): number {
    return this.current?.readers.size ?? 0;
  }

  /** Lets the prediction go on to its end that holds. */
  release(): void {
    if (this.current !== undefined) this.finish(this.current, 'it was held');
  }

  private begin(id: string, prompt: string, response: ServerResponse): void {
    const prediction: Prediction = {
      id,
      status: 'processing',
      history: [],
      chunks: [],
      readers: new Set(),
    };
    this.current = prediction;
    this.emit(prediction, 'start', { id, status: 'processing' });
    this.stream(prediction, response);
    this.emit(prediction, 'log', { source: 'stderr', data: 'loading\n' });
    if (prompt === 'hold') this.output(prediction, 'held ');
    else this.finish(prediction, prompt);
  }

  private finish(prediction: Prediction, prompt: string): void {
    const { status } = endOf(prompt);
    if (status === 'succeeded')
      for (const chunk of prompt === 'a picture' ? [picture] : prompt.match(/\S+\s*/g)!)
        this.output(prediction, chunk);
    this.end(prediction, status);
  }

  private output(prediction: Prediction, chunk: string): void {
    this.emit(prediction, 'output', { chunk, index: prediction.chunks.push(chunk) - 1 });
  }

  private end(prediction: Prediction, status: Prediction['status']): void {
    const { id, chunks } = prediction;
    prediction.status = status;
    this.current = undefined;
    this.emit(prediction, 'completed', {
      id,
      status,
      logs: 'loading\n',
      ...(chunks.length > 0 && { output: chunks }),
      ...(status === 'failed' && { error: 'CUDA out of memory' }),
      metrics: { predict_time: 0.5, tokens: chunks.length },
    });
    for (const reader of prediction.readers) reader.end();
  }

  private stream(prediction: Prediction, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    if (prediction.history.length > this.historyCapacity) {
      const error = 'SSE stream replay truncated; events were dropped';
      return void response.end(eventOf('error', { error, skipped: 1 }));
    }
    response.write(`:keep-alive\n\n${prediction.history.join('')}`);
    prediction.readers.add(response);
    response.once('close', () => {
      prediction.readers.delete(response);
      if (this.endsWithReaders && prediction.readers.size === 0 && this.current === prediction)
        this.end(prediction, 'canceled');
    });
  }

  private emit({ history, readers }: Prediction, name: string, data: object): void {
    const event = eventOf(name, data);
    history.push(event);
    for (const reader of readers) reader.write(event);
  }
}

const picture = `data:image/png;base64,${png.toString('base64')}`;

const eventOf = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

/** Returns how a prediction of a model without a stream ends. */
function endOf(prompt: string): { status: 'succeeded' | 'failed' } & Record<string, unknown> {
  const metrics = { predict_time: 0.5, steps: 4 };
  if (prompt === 'fail') return { status: 'failed', error: 'CUDA out of memory', logs: '', metrics };
  const output = prompt === 'a picture' ? [picture] : `seen: ${prompt}`;
  return { status: 'succeeded', output, logs: 'a line\n', metrics };
}
