import { createServer, type IncomingMessage, type Server } from 'node:http';
import { verify } from '../signature.js';

export interface ListenerOptions {
  /** `whsec_…`; undefined: nothing is verified. */
  secret: string | undefined;
  print(block: string): void;
}

/** Takes webhooks on this machine. It prints one block for each, and answers 204, or 401 if it is not genuine. */
export function webhookListener({ secret, print }: ListenerOptions): Server {
  return createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const fault = secret === undefined ? undefined : verify(request.headers, body, secret, Date.now());
      const verdict = secret === undefined ? 'not verified' : (fault ?? 'genuine');
      print(blockOf(request, body, fault === undefined ? verdict : `NOT GENUINE: ${verdict}`));
      response.writeHead(fault === undefined ? 204 : 401).end();
    });
  });
}

function blockOf({ method, url, headers }: IncomingMessage, body: Buffer, verdict: string): string {
  const id = String(headers['webhook-id'] ?? 'without a webhook-id');
  const lines = [
    `${new Date().toISOString()}  ${method} ${url}  ${id}  ${verdict}`,
    indented(body.toString()),
  ];
  return `${lines.join('\n')}\n\n`;
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
