import type { IncomingMessage, ServerResponse } from 'node:http';
import { now } from '../clock.js';
import type { ChaosInput } from './behaviour.js';

export const followedModel = 'chaos/followed';

/** A run of the model whose runs go on without a connection. */
export interface Job {
  readonly id: string;
  readonly requestId: string;
  /** The attempt as the service counted it at its start. */
  readonly attempt: number;
  readonly endsAt: number;
  /** How often the service started it. */
  starts: number;
  /** How often the service asked how it goes. */
  asked: number;
  isCancelled: boolean;
}

/** A server that goes on with its runs whatever becomes of the nodes. The service names each run. */
export class FollowedJobs {
  readonly all = new Map<string, Job>();

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = request.url!.split('/').at(-1)!;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.method === 'PUT') this.start(id, request, Buffer.concat(chunks).toString());
    const job = this.all.get(id);
    response.writeHead(job === undefined ? 404 : 200, { 'content-type': 'application/json' });
    if (job === undefined) return void response.end('{}');
    if (request.method === 'DELETE') job.isCancelled = true;
    if (request.method === 'GET') job.asked++;
    response.end(JSON.stringify(viewOf(job)));
  }

  private start(id: string, { headers }: IncomingMessage, body: string): void {
    const known = this.all.get(id);
    if (known !== undefined) return void known.starts++;
    const step = (JSON.parse(body) as ChaosInput).plan![0]!;
    const takesMs = 'ms' in step ? step.ms : 0;
    this.all.set(id, {
      id,
      requestId: String(headers['x-request-id']),
      attempt: Number(headers['x-attempt']),
      endsAt: now() + takesMs,
      starts: 1,
      asked: 0,
      isCancelled: false,
    });
  }
}

function viewOf({ id, endsAt, isCancelled }: Job): object {
  if (isCancelled) return { state: 'cancelled' };
  return now() < endsAt ? { state: 'running' } : { state: 'done', output: { run: id } };
}
