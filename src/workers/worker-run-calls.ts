import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { DomainError } from '../errors/domain-error.js';
import { chargesOf } from '../http/charges.js';
import { JsonThreads } from '../json/json-threads.js';
import { maxInlineBytes } from '../models/input-schemas.js';
import { QueueService } from '../queue/queue.service.js';
import { RunEvents } from '../queue/runs/run-events.js';
import { RunFailure } from '../queue/runs/runner.js';
import type { RunLine } from '../queue/runs/run-lines.js';
import type { LeaseName } from '../queue/workers/lease.js';
import { LeasedRuns } from '../queue/workers/leased-runs.js';
import { type EndTaken, WorkerEnds } from '../queue/workers/worker-ends.js';
import { WorkerEvents } from '../queue/workers/worker-events.js';
import { parseJson } from '../tools/storable-text.js';
import { decode, lineFault, readEvents } from './bodies.js';
import type { WorkerFailureDto, WorkerReleaseDto } from './dto.js';
import { leaseLost } from './lease-token.js';

/** The calls of workers about a run that they have. */
@Injectable()
export class WorkerRunCalls {
  constructor(
    private readonly queue: QueueService,
    private readonly runs: LeasedRuns,
    private readonly ends: WorkerEnds,
    private readonly events: WorkerEvents,
    private readonly runEvents: RunEvents,
    private readonly threads: JsonThreads,
  ) {}

  async renew(lease: LeaseName): Promise<void> {
    if (!(await this.runs.renew(lease))) throw leaseLost();
  }

  /** Returns JSON text. A large input is read when the worker's key has room for it. */
  async input(lease: LeaseName, request: IncomingMessage): Promise<string> {
    if ((await this.runs.renew(lease)) === undefined) throw leaseLost();
    const input = await this.queue.input(lease.id, chargesOf(request));
    // An input is deleted only after the run has ended.
    if (input === null) throw leaseLost();
    return input;
  }

  async append(lease: LeaseName, from: number, body: Buffer): Promise<{ next: number; cancel: boolean }> {
    const lines = await readEvents(body, (line, number) => this.readLong(lease, line, number));
    const taken = await this.events.append(lease, from, lines);
    if (taken === undefined) throw leaseLost();
    const { next, cancel } = taken;
    if (next < from) {
      const detail = `Events are missing. Send the events from number ${next} on.`;
      throw new DomainError('conflict', detail, { extensions: { next } });
    }
    return { next, cancel };
  }

  /** An empty body means that the deltas are the output. */
  async succeed(lease: LeaseName, body: Buffer): Promise<void> {
    const output = body.length === 0 ? await this.joined(lease) : await this.checked(lease, body);
    // Without an output the lease is gone. The run may already have succeeded with this lease.
    assertTaken(
      output === undefined ? await this.ends.succeededBefore(lease) : await this.ends.succeed(lease, output),
    );
  }

  async fail(lease: LeaseName, failure: WorkerFailureDto): Promise<void> {
    assertTaken(await this.ends.fail(lease, toFailure(failure)));
  }

  async release(lease: LeaseName, { retry_after_s = 0 }: WorkerReleaseDto): Promise<void> {
    assertTaken(await this.ends.release(lease, retry_after_s * 1_000));
  }

  private async checked({ id }: LeaseName, body: Buffer): Promise<string | Buffer> {
    if (body.length <= maxInlineBytes) {
      const text = decode(body);
      if (parseJson(text) !== undefined) return text;
    } else {
      const [{ fault }, output] = await this.threads.run('output', {}, body, {
        caller: id,
        isAccepted: true,
      });
      if (fault === undefined) return output;
      if (fault === 'is not UTF-8') throw new DomainError('invalid_json', 'The body is not valid UTF-8.');
    }
    throw new DomainError(
      'invalid_json',
      'The body is not a JSON value, or it is nested too deeply. Nothing was stored, and the lease is still valid.',
    );
  }

  private async readLong({ id }: LeaseName, line: Buffer, number: number): Promise<RunLine> {
    const [result] = await this.threads.run('runLine', {}, line, { caller: id, isAccepted: true });
    if ('fault' in result) throw lineFault(result.fault, number);
    return result.runLine;
  }

  /** undefined: the lease is lost. */
  private async joined(lease: LeaseName): Promise<string | undefined> {
    const run = await this.runs.find(lease);
    if (run === undefined) return undefined;
    const output = await this.runEvents.joinedOutput(run.id, run.attempt);
    if (output !== undefined || (await this.runs.renew(lease)) === undefined) return output;
    const detail = 'The body is empty, and the run has sent no deltas. Send the output as JSON.';
    throw new DomainError('invalid_json', detail);
  }
}

function toFailure({
  message,
  retryable = false,
  retry_after_s,
  status,
  details,
  model_message,
}: WorkerFailureDto): RunFailure {
  return new RunFailure(message || 'The worker failed.', {
    retryable,
    ...(retryable && retry_after_s !== undefined && { retryAfterMs: retry_after_s * 1_000 }),
    // The caller need not act on "try again".
    ...(!retryable && status !== undefined && { status }),
    ...(details !== undefined && { details }),
    ...(model_message !== undefined && { modelMessage: model_message }),
  });
}

function assertTaken(taken: EndTaken): void {
  if (taken === 'taken') return;
  if (taken === 'lost') throw leaseLost();
  throw new DomainError('conflict', `The run has already ended in another way: it ${words[taken.endedAs]}.`);
}

const words: Record<Exclude<EndTaken, string>['endedAs'], string> = {
  succeeded: 'has succeeded',
  failed: 'has failed',
  cancelled: 'was cancelled',
  timed_out: 'took too long',
  returned: 'was given back',
  lost: 'was lost',
  unreached: 'never began',
};
