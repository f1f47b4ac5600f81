import { Injectable, Logger } from '@nestjs/common';
import { Subject } from 'rxjs';
import { Clock } from '../../database/clock.js';
import { ModelsService } from '../../models/models.service.js';
import type { OpenCircuit } from '../queries/circuits.js';
import type { CircuitChange } from '../queue-events.js';
import { asRunFailure } from '../runs/finish-of.js';
import type { RunEnd, RunExecution } from '../runs/run-execution.js';
import type { Outage } from '../runs/runner.js';
import { WaitingIndex } from '../waiting/waiting-index.js';
import { Circuit, type Probe } from './circuit.js';
import { ModelAvailability } from './model-availability.js';

/** One address that runs are sent to, and the models behind it. */
class Target {
  models: string[] = [];
  readonly origin: string;
  timer: NodeJS.Timeout | undefined;
  reminder: NodeJS.Timeout | undefined;

  constructor(
    readonly url: string,
    readonly circuit: Circuit,
  ) {
    // Path, query and user may hold secrets.
    ({ origin: this.origin } = new URL(url));
  }

  toString(): string {
    return `${this.models.join(', ')} at ${this.origin}`;
  }
}

/** The circuits of this node: whether a run may be sent to its model now, and what its end says of the model. */
@Injectable()
export class Circuits {
  readonly times = {
    probeMs: 1_000,
    maxProbeMs: 30_000,
    shareMs: 120_000,
    /** A probe that is connected and runs so long has found the model. */
    steadyMs: 5_000,
    remindMs: 60_000,
  };
  /** Models of which a request may start again, or be the probe. */
  readonly wakes = new Subject<readonly string[]>();
  /** What is yielded has changed. */
  readonly changes = new Subject<CircuitChange[]>();
  private readonly log = new Logger(Circuits.name);
  private readonly targets = new Map<string, Target>();

  constructor(
    private readonly models: ModelsService,
    private readonly index: WaitingIndex,
    private readonly availability: ModelAvailability,
    private readonly clock: Clock,
  ) {
    this.follow();
    models.changes.subscribe(() => this.follow());
  }

  /** How many runs of the model may start now, as far as the model is concerned. */
  room(modelId: string): number {
    return this.targets.get(modelId)?.circuit.room ?? Infinity;
  }

  /** Only with room. undefined: the next runs of the model are no probes. */
  startProbe(modelId: string): Probe | undefined {
    return this.targets.get(modelId)?.circuit.startProbe();
  }

  /** No run was started. */
  skipProbe(modelId: string, probe: Probe): void {
    this.targets.get(modelId)?.circuit.release(probe);
  }

  /** The run is over; if it said nothing of the model, the next probe is due. */
  endProbe(modelId: string, probe: Probe): void {
    const target = this.targets.get(modelId);
    if (target?.circuit.release(probe) === true) this.wakes.next(target.models);
  }

  /** The probe is connected. */
  probeReached(modelId: string, probe: Probe): void {
    const close = (): void => {
      const target = this.targets.get(modelId);
      if (target !== undefined) this.close(target, probe);
    };
    setTimeout(close, this.times.steadyMs).unref();
  }

  /** Other nodes have found these models. */
  hint(modelIds: readonly string[]): void {
    for (const target of new Set(modelIds.map((id) => this.targets.get(id)))) {
      if (target?.circuit.hint() === true) this.due(target);
    }
  }

  /** How a run met an outage of its model. undefined: the model was there, or the end says nothing of it. */
  outageOf({ model, hasReachedModel }: RunExecution, end: RunEnd, probe?: Probe): Outage | undefined {
    const target = this.targets.get(model.id);
    if (target === undefined) return undefined;
    // It was sent to where the model was before the file was read again.
    const isElsewhere = model.runner.address() !== target.url;
    if (end.kind === 'aborted') {
      if (end.reason !== 'timed_out') return undefined;
      const { circuit } = target;
      if (isElsewhere) return hasReachedModel ? undefined : 'free';
      if (!hasReachedModel)
        this.open(target, 'The connection to the model took longer than a run may.', 0, probe);
      else if (circuit.outage !== undefined) this.open(target, 'The model does not answer.', 0, probe);
      return hasReachedModel ? undefined : 'free';
    }
    const { message = '', options } = end.kind === 'failure' ? asRunFailure(end.error) : {};
    if (isElsewhere) return options?.outage;
    if (options?.outage === undefined) this.close(target, probe);
    else this.open(target, message, options.retryAfterMs, probe);
    return options?.outage;
  }

  /** Models that this node cannot reach, and whose slots others may have. */
  get yielded(): OpenCircuit[] {
    return [...new Set(this.targets.values())].flatMap(
      ({ circuit: { outage, yieldsSlots }, models, origin }) => {
        if (outage === undefined || !yieldsSlots) return [];
        const sinceMs = this.clock.now() - (performance.now() - outage.since);
        return models.map((modelId) => ({ modelId, address: origin, reason: outage.reason, sinceMs }));
      },
    );
  }

  /** The addresses of the models as they are now. What is known of one stays known. */
  private follow(): void {
    const before = new Map([...this.targets.values()].map((target) => [target.url, target]));
    const open = this.yielded;
    for (const target of before.values()) target.models = [];
    this.targets.clear();
    const byUrl = new Map<string, Target>();
    for (const { id, runner, circuit } of this.models.all()) {
      const url = runner.address();
      if (!circuit || url === undefined) continue;
      const target = byUrl.get(url) ?? before.get(url) ?? new Target(url, new Circuit(this.times));
      byUrl.set(url, target);
      target.models.push(id);
      this.targets.set(id, target);
    }
    for (const [url, { timer, reminder }] of before) {
      if (byUrl.has(url)) continue;
      clearTimeout(timer);
      clearInterval(reminder);
    }
    const changed = new Set([...open, ...this.yielded].map(({ modelId }) => modelId));
    if (changed.size > 0) this.changes.next([...changed].map((modelId) => ({ modelId, isReached: false })));
  }

  private open(
    target: Target,
    reason: string,
    retryAfterMs: number | undefined,
    probe: Probe | undefined,
  ): void {
    const { circuit } = target;
    const yielded = circuit.yieldsSlots;
    if (circuit.fail(reason, retryAfterMs, probe)) {
      // The one that found it away waits again too.
      this.warn(target, 'is away', 1);
      target.reminder = setInterval(() => this.warn(target, 'is still away'), this.times.remindMs).unref();
    }
    if (circuit.yieldsSlots !== yielded) this.publish(target, false);
    this.schedule(target);
  }

  private close(target: Target, probe: Probe | undefined): void {
    const outage = probe && target.circuit.close(probe);
    if (outage === undefined) return;
    clearTimeout(target.timer);
    clearInterval(target.reminder);
    const seconds = Math.ceil((performance.now() - outage.since) / 1_000);
    this.log.log(`${String(target)} is there again after ${seconds} s`);
    this.publish(target, true);
    this.wakes.next(target.models);
  }

  private schedule(target: Target): void {
    clearTimeout(target.timer);
    const { nextInMs } = target.circuit;
    // A timer may be early by a millisecond.
    if (nextInMs !== undefined) target.timer = setTimeout(() => this.due(target), nextInMs + 1).unref();
  }

  private due(target: Target): void {
    const { circuit, models } = target;
    const yielded = circuit.yieldsSlots;
    circuit.askForShare(models.some((id) => this.availability.of(id) === 'available'));
    if (circuit.yieldsSlots !== yielded) this.publish(target, false);
    this.schedule(target);
    this.wakes.next(models);
  }

  private publish({ models }: Target, isReached: boolean): void {
    this.changes.next(models.map((modelId) => ({ modelId, isReached })));
  }

  private warn(target: Target, state: string, more = 0): void {
    const waiting = target.models.reduce((sum, id) => sum + this.index.depth(id), more);
    this.log.warn(
      `${String(target)} ${state}: ${target.circuit.outage!.reason} Requests that wait: ${waiting}`,
    );
  }
}
