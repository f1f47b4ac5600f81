import type { Call } from '../model-server.js';
import { png } from './openai.js';

/** Cog's HTTP server, after https://github.com/replicate/cog/blob/main/docs/http.md. It runs one prediction at a time. */
export class Cog {
  isBusy = false;
  isSetUp = true;

  readonly respond = ({ method, url, body, response }: Call): void => {
    const answer = (status: number, value: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    };
    if (url === '/health-check') {
      const ready = this.isBusy ? 'BUSY' : 'READY';
      return answer(200, { status: this.isSetUp ? ready : 'STARTING', setup: null, version: {} });
    }
    const { input } = JSON.parse(body) as { input?: { prompt: string } };
    if (input === undefined)
      return answer(422, { detail: [{ loc: ['body', 'input'], msg: 'Field required' }] });
    if (this.isBusy) return answer(409, { detail: 'Already running a prediction' });
    const base = {
      input,
      id: method === 'PUT' ? url.split('/').at(-1) : null,
      logs: 'a line\n',
      version: null,
    };
    const metrics = { predict_time: 0.5 };
    switch (input.prompt) {
      case 'fail':
        return answer(200, { ...base, status: 'failed', error: 'CUDA out of memory', output: null });
      case 'a picture':
        return answer(200, {
          ...base,
          status: 'succeeded',
          error: null,
          output: [`data:image/png;base64,${png.toString('base64')}`],
          metrics,
        });
      default:
        return answer(200, {
          ...base,
          status: 'succeeded',
          error: null,
          output: `seen: ${input.prompt}`,
          metrics,
        });
    }
  };
}
