import { Injectable, Logger } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { Config } from '../config/config.js';
import type { AttemptFailure, RequestEvents, StartedRequest } from './request-events.js';

/** Log lines of what happens to requests: a failed attempt is one line, what goes well is for `debug`. */
@Injectable()
export class RequestLog {
  private readonly log = new Logger(RequestLog.name);
  /** Successes come by the thousand: their lines are not even made. */
  private readonly isVerbose: boolean;

  constructor({ logLevel }: Config) {
    this.isVerbose = logLevel === 'debug' || logLevel === 'trace';
  }

  @OnEvent('request.completed')
  onCompleted(requests: RequestEvents['request.completed']): void {
    for (const request of requests) {
      const { id, modelId, outcome, attempt, failure } = request;
      if (failure !== undefined) this.failed(request, failure, 'it is not tried again');
      else if (this.isVerbose) this.log.debug(`${id} of ${modelId} ${outcome} after ${attempt} attempts`);
    }
  }

  @OnEvent('request.requeued')
  onRequeued(requests: RequestEvents['request.requeued']): void {
    for (const request of requests) {
      const { id, modelId, reason, delayMs, failure } = request;
      if (failure !== undefined)
        this.failed(request, failure, `the next one follows in ${Math.ceil(delayMs / 1000)} s`);
      else if (reason === 'lost')
        this.log.warn(`the node that ran ${id} of ${modelId} was lost; it runs again`);
      else if (this.isVerbose) this.log.debug(`${id} of ${modelId} was handed back to its queue`);
    }
  }

  @OnEvent('node.lost')
  onNodeLost(nodes: RequestEvents['node.lost']): void {
    for (const { id, name } of nodes)
      this.log.warn(`node ${name} (${id}) sends no heartbeats; it is given up`);
  }

  private failed({ id, modelId, attempt }: StartedRequest, failure: AttemptFailure, next: string): void {
    const { code, message, cause } = failure;
    // A runner that breaks has a fault of its own: a person must act.
    if (cause !== undefined)
      this.log.error(`the runner of ${modelId} broke on ${id}: ${cause.stack ?? cause.message}`);
    else this.log.warn(`attempt ${attempt} of ${id} of ${modelId} failed with ${code}: ${message} (${next})`);
  }
}
