import type { Call } from '../model-server.js';
import { png } from './openai.js';

/**
 * Gradio, after https://www.gradio.app/guides/querying-gradio-apps-with-curl and the routes of its server
 * (https://github.com/gradio-app/gradio/blob/main/gradio/routes.py). A client that leaves the stream of an event cancels
 * the event, and nobody gets its result any more. The first value of the input says what the endpoint does.
 */
export class Gradio {
  /** The events whose stream was left before its end. */
  readonly left: string[] = [];
  /** The inputs of events by their ids. */
  readonly inputs = new Map<string, string>();

  readonly respond = ({ method, url, body, response }: Call): void => {
    const { pathname } = new URL(url, 'http://gradio');
    if (decodeURIComponent(pathname) === '/gradio_api/file=/tmp/gradio/1/a cat.png') {
      response.writeHead(200, { 'content-type': 'image/png', 'content-length': png.length }).end(png);
      return;
    }
    const [, , call, name, id] = pathname.split('/');
    if (call !== 'call' || name !== 'predict') {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"detail":"Not Found"}');
      return;
    }
    if (method === 'POST') {
      const { data } = JSON.parse(body) as { data: [string] };
      const event_id = `event-${this.inputs.size + 1}`;
      this.inputs.set(event_id, data[0]);
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ event_id }));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    this.stream(id!, response);
  };

  private stream(id: string, response: Call['response']): void {
    const say = (event: string, data: unknown): void =>
      void response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    const text = this.inputs.get(id);
    if (text === undefined || this.left.includes(id)) {
      say('error', '404: Session not found.');
      response.end();
      return;
    }
    response.on('close', () => {
      if (!response.writableFinished) this.left.push(id);
    });
    say('heartbeat', null);
    switch (text) {
      case 'hold':
        say('generating', ['a']);
        return;
      case 'cut':
        say('generating', ['a']);
        setImmediate(() => response.destroy());
        return;
      case 'end':
        say('generating', ['a']);
        break;
      case 'fail':
        say('error', 'CUDA out of memory');
        break;
      case 'fail silently':
        say('error', null);
        break;
      case 'a picture':
        say('complete', [
          {
            path: '/tmp/gradio/1/a cat.png',
            url: `http://${response.req.headers.host}/gradio_api/file=/tmp/gradio/1/a%20cat.png`,
            orig_name: 'a cat.png',
            meta: { _type: 'gradio.FileData' },
          },
          7,
        ]);
        break;
      default:
        for (const end of text.split(' ').keys())
          say('generating', [
            text
              .split(' ')
              .slice(0, end + 1)
              .join(' '),
          ]);
        say('complete', [text, -15.5]);
    }
    response.end();
  }
}
