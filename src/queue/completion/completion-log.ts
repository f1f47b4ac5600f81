import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { Config } from '../../config/config.js';
import { RepeatedLines } from '../../tools/repeated-lines.js';
import type {
  AttemptFailure,
  CompletedRequest,
  RequestEvents,
  RequeuedRequest,
  StartedRequest,
} from '../request-events.js';

/**
 * Writes the ends of requests as log lines: each end at `debug`, failures at every level, with one line per model and
 * reason a minute and their count. Lines may be lost; the database has every end.
 */
@Injectable()
export class CompletionLog implements OnApplicationShutdown {
  private readonly log = new Logger(CompletionLog.name);
  private readonly lines = new RepeatedLines();
  /** Successes come by the thousand, so their lines are made only at `debug` and `trace`. */
  private readonly isVerbose: boolean;

  constructor({ logLevel }: Config) {
    this.isVerbose = logLevel === 'debug' || logLevel === 'trace';
  }

  onApplicationShutdown(): void {
    this.lines.flush();
  }

  @OnEvent('request.completed')
  onCompleted(requests: RequestEvents['request.completed']): void {
    for (const request of requests) {
      if (this.isVerbose) this.log.debug(endOf(request));
      if (request.failure !== undefined) this.failed(request, request.failure);
    }
  }

  @OnEvent('request.requeued')
  onRequeued(requests: RequestEvents['request.requeued']): void {
    for (const request of requests) {
      const { id, modelId, reason, delayMs, failure } = request;
      if (failure !== undefined) this.attemptFailed(request, failure, delayMs);
      else if (reason === 'lost') this.lost(request);
      else if (this.isVerbose) this.log.debug(`${id} of ${modelId} was handed back to its queue`);
    }
  }

  @OnEvent('node.lost')
  onNodeLost(nodes: RequestEvents['node.lost']): void {
    for (const { id, name } of nodes)
      this.log.warn({ nodeId: id }, `node ${name} sends no heartbeats and is treated as lost`);
  }

  private failed(request: StartedRequest, failure: AttemptFailure): void {
    const { id, modelId, attempt } = request;
    const { code, message, cause } = failure;
    if (cause !== undefined) return this.broke(request, cause);
    const tries = attempt === 1 ? '' : ` after ${attempt} attempts`;
    this.lines.add(`failed ${modelId} ${code}`, (count) =>
      this.log.warn(
        { model: modelId, code, count },
        count === 1
          ? `${id} of ${modelId} failed with ${code}${tries}: ${message}`
          : `${count} more requests of ${modelId} failed with ${code}, most recently ${id}: ${message}`,
      ),
    );
  }

  private attemptFailed(request: StartedRequest, failure: AttemptFailure, delayMs: number): void {
    const { id, modelId, attempt } = request;
    const { code, message, cause } = failure;
    if (cause !== undefined) return this.broke(request, cause);
    const next = `the next one starts in ${Math.ceil(delayMs / 1000)} s`;
    this.lines.add(`attempt ${modelId} ${code}`, (count) =>
      this.log.log(
        { model: modelId, code, count },
        count === 1
          ? `attempt ${attempt} of ${id} of ${modelId} failed with ${code}: ${message} (${next})`
          : `${count} more attempts of ${modelId} failed with ${code} and will be retried, most recently ${attempt} of ${id}: ${message}`,
      ),
    );
  }

  /** Logs a fault of the runner itself: a person must act. */
  private broke({ id, modelId }: StartedRequest, cause: Error): void {
    this.lines.add(`broke ${modelId}`, (count) =>
      this.log.error(
        { model: modelId, count, err: cause },
        `the runner of ${modelId} broke ${count === 1 ? 'on' : `${count} more times, most recently on`} ${id}`,
      ),
    );
  }

  private lost({ id, modelId, lost = 'node' }: RequeuedRequest): void {
    this.lines.add(`lost ${lost} ${modelId}`, (count) =>
      this.log.warn(
        { model: modelId, count },
        count === 1
          ? `the ${lost} that ran ${id} of ${modelId} was lost; the request runs again`
          : `the ${lost}s that ran ${count} more requests of ${modelId} were lost; the requests run again`,
      ),
    );
  }
}

function endOf({ id, modelId, outcome, attempt, runMs }: CompletedRequest): string {
  const ran = runMs === undefined ? '' : ` in ${Math.round(runMs)} ms`;
  return `${id} of ${modelId} ${outcome} after ${attempt} ${attempt === 1 ? 'attempt' : 'attempts'}${ran}`;
}
