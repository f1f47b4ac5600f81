import { Inject, Injectable } from '@nestjs/common';
import { Registry } from 'prom-client';
import { Clock } from '../database/clock.js';
import { idTimeMs } from '../database/days.js';
import { ModelsService } from '../models/models.service.js';
import { QueueEvents } from '../queue/queue-events.js';
import { isInputRefusal } from '../queue/request-errors.js';
import type { CompletedRequest, RequestEvents } from '../queue/request-events.js';
import { BoundedNames } from './bounded-names.js';
import { byteBuckets, longBuckets, maxModels, REGISTRY } from './registry.js';
import { FastCounter, FastHistogram } from './series.js';

const outcomes = ['succeeded', 'failed', 'cancelled', 'expired'];

/** Metrics of the requests on this node, counted from its typed events. */
@Injectable()
export class RequestMetrics {
  private readonly models = new BoundedNames(maxModels);
  /** The metrics whose first label is the model. */
  private readonly ofModels: (FastCounter | FastHistogram)[] = [];
  private readonly submitted: FastCounter;
  private readonly completed: FastCounter;
  private readonly failures: FastCounter;
  private readonly refused: FastCounter;
  private readonly attempts: FastCounter;
  private readonly queueTime: FastHistogram;
  private readonly attemptTime: FastHistogram;
  private readonly requestTime: FastHistogram;
  private readonly payloads: FastHistogram;

  constructor(
    @Inject(REGISTRY) registry: Registry,
    models: ModelsService,
    events: QueueEvents,
    private readonly clock: Clock,
  ) {
    const ofModels = <Metric extends FastCounter | FastHistogram>(metric: Metric): Metric => {
      this.ofModels.push(metric);
      return metric;
    };
    const counter = (name: string, help: string, ...labelNames: string[]): FastCounter =>
      ofModels(new FastCounter({ name: `nowserving_${name}`, help, labelNames, registry }));
    const seconds = (name: string, help: string): FastHistogram =>
      ofModels(
        new FastHistogram({
          name: `nowserving_${name}_seconds`,
          help,
          registry,
          labelNames: ['model'],
          buckets: longBuckets,
        }),
      );
    this.submitted = counter('requests_submitted_total', 'Requests that were submitted here.', 'model');
    this.completed = counter(
      'requests_completed_total',
      'Requests that this node completed, by outcome.',
      'model',
      'outcome',
    );
    this.failures = counter(
      'request_failures_total',
      'Requests that failed for good, by the code of their error.',
      'model',
      'code',
    );
    this.refused = counter(
      'inputs_refused_total',
      "Requests that failed because the model refused their input with a 4xx: the mistake is the caller's.",
      'model',
    );
    this.attempts = counter(
      'attempts_total',
      'Runs that ended, by how; those of lost nodes at the node that rescued them.',
      'model',
      'outcome',
    );
    this.queueTime = seconds(
      'queue_duration',
      'How long requests waited for their first start, from the time at which they could start.',
    );
    this.attemptTime = seconds(
      'attempt_duration',
      'How long runs of this node took, except runs that were handed back.',
    );
    this.requestTime = seconds('request_duration', 'From the submission of requests to their completion.');
    this.payloads = new FastHistogram({
      name: 'nowserving_payload_bytes',
      help: 'Sizes of inputs that were submitted here, and of outputs of runs of this node.',
      registry,
      labelNames: ['direction'],
      buckets: byteBuckets,
    });
    const follow = (): void => this.follow(models.all().map(({ id }) => id));
    follow();
    models.changes.subscribe(follow);
    events.on('request.submitted', (requests) => this.noteSubmitted(requests));
    events.on('request.started', (requests) => this.noteStarted(requests));
    events.on('request.requeued', (requests) => this.noteRequeued(requests));
    events.on('request.completed', (requests) => this.noteCompleted(requests));
  }

  noteSubmitted(requests: RequestEvents['request.submitted']): void {
    for (const { modelId, inputBytes } of requests) {
      this.submitted.count(this.models.of(modelId));
      if (inputBytes !== undefined) this.payloads.note(inputBytes, 'input');
    }
  }

  /** Drops the series of models that have left the file, so that later models can have their own. */
  private follow(ids: readonly string[]): void {
    for (const id of this.models.retain(ids)) for (const metric of this.ofModels) metric.drop(id);
    for (const id of ids) this.begin(this.models.of(id));
  }

  private begin(model: string): void {
    this.submitted.begin(model);
    this.refused.begin(model);
    for (const outcome of outcomes) this.completed.begin(model, outcome);
    for (const outcome of ['succeeded', 'failed', 'lost']) this.attempts.begin(model, outcome);
  }

  private noteStarted(requests: RequestEvents['request.started']): void {
    for (const { modelId, queueMs } of requests)
      if (queueMs !== undefined) this.queueTime.note(queueMs / 1_000, this.models.of(modelId));
  }

  private noteRequeued(requests: RequestEvents['request.requeued']): void {
    for (const { modelId, reason, runMs } of requests) {
      const model = this.models.of(modelId);
      this.attempts.count(model, reason);
      if (runMs !== undefined) this.attemptTime.note(runMs / 1_000, model);
    }
  }

  private noteCompleted(requests: RequestEvents['request.completed']): void {
    const now = this.clock.now();
    for (const request of requests) this.noteEnd(request, now);
  }

  private noteEnd({ id, modelId, outcome, failure, ...run }: CompletedRequest, now: number): void {
    const model = this.models.of(modelId);
    this.completed.count(model, outcome);
    if (failure !== undefined) {
      this.failures.count(model, failure.code);
      if (isInputRefusal(failure)) this.refused.count(model);
    }
    this.requestTime.note(Math.max(0, now - idTimeMs(id)) / 1_000, model);
    if (run.attemptOutcome !== undefined) this.attempts.count(model, run.attemptOutcome);
    if (run.runMs !== undefined) this.attemptTime.note(run.runMs / 1_000, model);
    if (run.outputBytes !== undefined) this.payloads.note(run.outputBytes, 'output');
  }
}
