import { Agent, request, type IncomingHttpHeaders } from 'node:http';

export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** Connections that are idle for longer are closed here, before the service closes them during a call. */
const idleMs = 2_000;

const agent = new Agent({ keepAlive: true, timeout: idleMs, scheduling: 'lifo', maxFreeSockets: 1_500 });

/** Makes one call. Rejects when the connection breaks, or when the whole answer has not come in time. */
export function httpCall(
  method: string,
  url: string,
  headers: Record<string, string>,
  body: string | undefined,
  patienceMs: number,
): Promise<RawAnswer> {
  return new Promise((done, fail) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const call = request(url, { method, agent, headers: { ...headers, ...length } }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.once('error', fail);
      response.once('end', () => done({ status: response.statusCode!, headers: response.headers, text }));
    });
    const late = setTimeout(() => call.destroy(new Error(`no answer in ${patienceMs} ms`)), patienceMs);
    call.once('error', fail);
    call.once('close', () => clearTimeout(late));
    call.end(body);
  });
}
