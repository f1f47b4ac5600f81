import { Injectable, Logger } from '@nestjs/common';
import { Subject } from 'rxjs';
import { Clock } from '../../database/clock.js';
import { ModelsService } from '../../models/models.service.js';
import type { OpenCircuit } from './queries/circuits.js';
import type { CircuitChange } from '../queue-events.js';
import { asRunFailure } from '../runs/finish-of.js';
import type { RunEnd, RunExecution } from '../runs/run-execution.js';
import type { Outage } from '../runs/runner.js';
import { WaitingIndex } from '../waiting/waiting-index.js';
import { Addresses, type Destination } from './addresses.js';
import type { Probe } from './circuit.js';
import { ModelAvailability } from './model-availability.js';
import { Target } from './target.js';

const none: readonly Destination[] = [];
const inProcess: Destination = { target: undefined };

/** The circuits of this node. They decide which address of its model a run may be sent to, and learn from its end. */
@Injectable()
export class Circuits {
  readonly times = {
    probeMs: 1_000,
    maxProbeMs: 30_000,
    shareMs: 120_000,
    /** A probe that is connected and runs for this long has found the model. */
    steadyMs: 5_000,
    remindMs: 60_000,
  };
  /** Emits models of which a request may start again, or be the probe. */
  readonly wakes = new Subject<readonly string[]>();
  /** Emits when the open circuits change, with the models for which this changes something as a whole, if any. */
  readonly changes = new Subject<CircuitChange[]>();
  private readonly log = new Logger(Circuits.name);
  private readonly addresses = new Map<string, Addresses>();

  constructor(
    private readonly models: ModelsService,
    private readonly index: WaitingIndex,
    private readonly availability: ModelAvailability,
    private readonly clock: Clock,
  ) {
    this.follow();
    models.changes.subscribe(() => this.follow());
  }

  /** The number of runs of the model that may start now, as far as its circuits allow. */
  room(modelId: string): number {
    return this.addresses.get(modelId)?.room ?? Infinity;
  }

  /** True if the next run of the model would be a probe. */
  isProbeDue(modelId: string): boolean {
    const addresses = this.addresses.get(modelId);
    return addresses !== undefined && addresses.due.length > 0;
  }

  /** Starts the probes that are due, at most `limit`. They are the first of the model's next runs. */
  startProbes(modelId: string, limit: number): readonly Destination[] {
    const due = this.addresses.get(modelId)?.due ?? [];
    if (due.length === 0) return none;
    const probes = due
      .slice(0, limit)
      .map((target) => ({ target, probe: target.circuit.startProbe() }) satisfies Destination);
    this.changes.next([]);
    return probes;
  }

  /** Ends the probe, because no run was started. */
  skipProbe({ target, probe }: Destination): void {
    if (probe !== undefined && target?.circuit.release(probe) === true) this.changes.next([]);
  }

  /** undefined: the model has become unreachable meanwhile. */
  startRun(modelId: string, probe?: Destination): Destination | undefined {
    const addresses = this.addresses.get(modelId);
    // The file may have been read again since the claim.
    const isProbe = probe?.target?.models.includes(modelId) === true;
    if (probe !== undefined && !isProbe) this.skipProbe(probe);
    if (addresses === undefined) return inProcess;
    const target = isProbe ? probe.target : addresses.next();
    if (target === undefined) return undefined;
    target.running++;
    return isProbe ? probe : { target };
  }

  /** Moves a run to the address that already has it, which its model may have left. */
  moveRun(modelId: string, destination: Destination, url: string): Destination {
    if (destination.target === undefined || destination.target.url === url) return destination;
    this.endRun(destination);
    const targets = this.addresses.get(modelId)?.targets ?? [];
    const target = targets.find((one) => one.url === url) ?? new Target(url, this.times);
    target.running++;
    return { target };
  }

  /** If the run was a probe that showed nothing about its address, the next probe is due. */
  endRun(destination: Destination): void {
    const { target, probe } = destination;
    if (target === undefined) return;
    target.running--;
    if (probe === undefined || !target.circuit.release(probe)) return;
    this.changes.next([]);
    this.wakes.next(target.models);
  }

  /** Closes the circuit if the connected probe still runs after `steadyMs`. */
  probeReached({ target, probe }: Destination): void {
    if (target !== undefined) setTimeout(() => this.close(target, probe), this.times.steadyMs).unref();
  }

  /** Makes probes of these models due, because other nodes have found the models. */
  hint(modelIds: readonly string[]): void {
    for (const target of new Set(modelIds.flatMap((id) => this.addresses.get(id)?.targets ?? []))) {
      if (target.circuit.hint()) this.due(target);
    }
  }

  /**
   * Returns how a run met an outage of its address, and opens or closes the circuit accordingly. undefined: the model
   * was reachable, or the end shows nothing about it.
   */
  outageOf(
    { model, hasReachedModel }: RunExecution,
    end: RunEnd,
    { target, probe }: Destination,
  ): Outage | undefined {
    if (target === undefined || !model.circuit) return undefined;
    // The run was sent to an address that the model had before the file was read again.
    const isElsewhere = !target.models.includes(model.id);
    if (end.kind === 'aborted') {
      if (end.reason !== 'timed_out') return undefined;
      if (isElsewhere) return hasReachedModel ? undefined : 'free';
      if (!hasReachedModel)
        this.open(target, 'Connecting to the model took longer than a run may take.', 0, probe);
      else if (target.isAway) this.open(target, 'The model does not answer.', 0, probe);
      return hasReachedModel ? undefined : 'free';
    }
    const { message = '', options } = end.kind === 'failure' ? asRunFailure(end.error) : {};
    if (isElsewhere) return options?.outage;
    if (options?.outage === undefined) this.close(target, probe);
    else this.open(target, message, options.retryAfterMs, probe);
    return options?.outage;
  }

  /** The addresses to which this node sends only probes, once for each of their models. */
  get opened(): OpenCircuit[] {
    return [...this.addresses].flatMap(([modelId, addresses]) => {
      if (!addresses.hasCircuits) return [];
      const { areAway: isAway, yieldSlots: yieldsSlots, labels } = addresses;
      return addresses.targets.flatMap(({ circuit: { outage, isProbing } }, at) => {
        if (outage === undefined) return [];
        const sinceMs = this.clock.now() - (performance.now() - outage.since);
        const { reason } = outage;
        return { modelId, address: labels[at]!, reason, sinceMs, isAway, yieldsSlots, isProbing };
      });
    });
  }

  /** Follows the addresses of the models as they are now. An address that stays keeps its state. */
  private follow(): void {
    const before = new Map(
      [...this.addresses.values()].flatMap(({ targets }) => targets).map((target) => [target.url, target]),
    );
    const opened = this.opened;
    for (const target of before.values()) target.models = [];
    this.addresses.clear();
    const now = new Map<string, Target>();
    for (const { id, runner, circuit } of this.models.all()) {
      const targets = runner.addresses().map((url) => {
        const target = now.get(url) ?? before.get(url) ?? new Target(url, this.times);
        now.set(url, target);
        if (circuit) target.models.push(id);
        return target;
      });
      if (targets.length > 0) this.addresses.set(id, new Addresses(targets, circuit));
    }
    for (const [url, { timer, reminder, models }] of before) {
      if (now.has(url) && models.length > 0) continue;
      clearTimeout(timer);
      clearInterval(reminder);
    }
    const changed = new Set([...opened, ...this.opened].map(({ modelId }) => modelId));
    if (changed.size > 0) this.changes.next([...changed].map((modelId) => ({ modelId, isReached: false })));
  }

  private open(
    target: Target,
    reason: string,
    retryAfterMs: number | undefined,
    probe: Probe | undefined,
  ): void {
    this.change(target, () => {
      if (!target.circuit.fail(reason, retryAfterMs, probe)) return;
      // The request that met the outage waits again too, hence 1 more.
      this.warn(target, 'is away', 1);
      target.reminder = setInterval(() => this.warn(target, 'is still away'), this.times.remindMs).unref();
    });
    this.schedule(target);
  }

  private close(target: Target, probe: Probe | undefined): void {
    const wereAway = target.models.filter((id) => this.addresses.get(id)!.areAway);
    const outage = probe && target.circuit.close(probe);
    if (outage === undefined) return;
    clearTimeout(target.timer);
    clearInterval(target.reminder);
    const seconds = Math.ceil((performance.now() - outage.since) / 1_000);
    this.log.log(`${String(target)} is reachable again after ${seconds} s`);
    this.changes.next(wereAway.map((modelId) => ({ modelId, isReached: true })));
    this.wakes.next(target.models);
  }

  private schedule(target: Target): void {
    clearTimeout(target.timer);
    const { nextInMs } = target.circuit;
    // A timer may fire a millisecond early.
    if (nextInMs !== undefined) target.timer = setTimeout(() => this.due(target), nextInMs + 1).unref();
  }

  private due(target: Target): void {
    const { circuit, models } = target;
    this.change(target, () =>
      circuit.askForShare(models.some((id) => this.availability.of(id) === 'available')),
    );
    this.schedule(target);
    this.wakes.next(models);
  }

  private warn(target: Target, state: string, more = 0): void {
    const waiting = target.models.reduce((sum, id) => sum + this.index.depth(id), more);
    this.log.warn(
      `${String(target)} ${state}: ${target.circuit.outage!.reason} Waiting requests: ${waiting}`,
    );
  }

  /** Runs `act` and publishes the models for which it changes whether their slots are yielded. */
  private change(target: Target, act: () => void): void {
    const yielding = (): string[] => target.models.filter((id) => this.addresses.get(id)!.yieldSlots);
    const before = yielding();
    act();
    const after = yielding();
    const changed = target.models.filter((id) => before.includes(id) !== after.includes(id));
    this.changes.next(changed.map((modelId) => ({ modelId, isReached: false })));
  }
}
