import { Injectable, Logger } from '@nestjs/common';
import { Subject } from 'rxjs';
import { Clock } from '../../database/clock.js';
import type { Model } from '../../models/model.js';
import type { HealthCheck } from '../../models/runner-kind.js';
import { ModelsService } from '../../models/models.service.js';
import type { OpenCircuit } from './queries/circuits.js';
import type { CircuitChange } from '../queue-events.js';
import { asRunFailure } from '../runs/run-finish.js';
import type { RunEnd, RunExecution } from '../runs/run-execution.js';
import type { Outage, RunFailure } from '../runs/runner.js';
import { WaitingIndex } from '../waiting/waiting-index.js';
import { Addresses, type Destination, type SuspectPlace } from './addresses.js';
import type { Probe } from './circuit.js';
import { ModelAvailability } from './model-availability.js';
import { Target } from './target.js';

/** A health check in progress, and a model whose server it asks. */
export interface HealthProbe {
  readonly target: Target;
  readonly model: Model;
  readonly probe: Probe;
}

/** Models with different checks of one URL have circuits of their own. */
const keyOf = (url: string, health: HealthCheck | undefined): string =>
  health === undefined ? url : `${health.everyMs} ${health.path} ${url}`;

/** For how long no slot is kept for a suspect at whose address another node has a run. */
const busyMs = 3_000;

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
  /** The targets with runs of this node, also those that their models have left. */
  private readonly inUse = new Set<Target>();
  /** The addresses to which nothing but suspects is sent, each with the model whose suspect is to run next there. */
  private suspects: ReadonlyMap<string, string | undefined> = new Map();
  /** Addresses at which no suspect could start, because another node has a run there, and until when no slot is kept. */
  private readonly busyUntil = new Map<string, number>();

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

  /** True if this node finds all addresses of the model away. */
  isAway(modelId: string): boolean {
    return this.addresses.get(modelId)?.areAway ?? false;
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
    const isThere = probe?.target?.models.includes(modelId) === true;
    const isProbe = isThere && (probe.isSuspect === true || !probe.target.isQuarantined);
    if (probe !== undefined && !isProbe) this.skipProbe(probe);
    if (addresses === undefined) return inProcess;
    const target = isProbe ? probe.target : addresses.next();
    if (target === undefined) return undefined;
    this.enter(target);
    if (isProbe && probe.isSuspect === true) target.suspects++;
    return isProbe ? probe : { target };
  }

  /** Moves a run to the address that already has it, which its model may have left. */
  moveRun(modelId: string, destination: Destination, url: string): Destination {
    if (destination.target === undefined || destination.target.url === url) return destination;
    this.endRun(destination);
    const targets = this.addresses.get(modelId)?.targets ?? [];
    const target = targets.find((one) => one.url === url) ?? new Target(url, this.times);
    this.enter(target);
    return { target };
  }

  /** If the run was a probe that showed nothing about its address, the next probe is due. */
  endRun(destination: Destination): void {
    const { target, probe } = destination;
    if (target === undefined) return;
    target.running--;
    if (target.running === 0) this.inUse.delete(target);
    if (destination.isSuspect === true) target.suspects--;
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
    for (const target of this.targetsOf(modelIds)) if (target.circuit.hint()) this.due(target);
  }

  /**
   * Returns the outage that a run has met at its address, and opens or closes the circuit accordingly. undefined: the
   * model was reachable, or the end shows nothing about it.
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
        this.open(target, 'Connecting to the model took longer than a run may take.', 'free', 0, probe);
      else if (target.isAway) this.open(target, 'The model does not answer.', 'costly', 0, probe);
      return hasReachedModel ? undefined : 'free';
    }
    const { message = '', options } = end.kind === 'failure' ? asRunFailure(end.error) : {};
    // While a server is down, its proxy answers a probe at once. The input has then not reached the model.
    const isFree = probe !== undefined && options?.isPrompt === true && options.outage === 'costly';
    const outage = isFree ? 'free' : options?.outage;
    if (isElsewhere) return outage;
    if (outage === undefined) this.close(target, probe);
    else this.open(target, message, outage, options?.retryAfterMs, probe);
    return outage;
  }

  /** Starts the health checks that are due. `endHealthCheck` ends each of them. */
  startHealthChecks(): HealthProbe[] {
    const checks = [...this.targets].flatMap((target) => {
      const model = target.models.map((id) => this.models.get(id)).find((one) => one !== undefined);
      if (target.health === undefined || model === undefined || target.circuit.room !== 1) return [];
      return { target, model, probe: target.circuit.startProbe()! };
    });
    if (checks.length > 0) this.changes.next([]);
    return checks;
  }

  /** `failure`: undefined: the server is ready. */
  endHealthCheck({ target, probe }: HealthProbe, failure?: RunFailure): void {
    // The file was read again during the check, and no model has the address any more.
    if (target.models.length === 0) return;
    if (failure === undefined) this.close(target, probe);
    else this.open(target, failure.message, 'free', failure.options.retryAfterMs, probe);
  }

  /** Makes the probes of these models due at once, because an operator asks for it. */
  probeNow(modelIds: readonly string[]): void {
    for (const target of this.targetsOf(modelIds)) if (target.circuit.probeNow()) this.due(target);
  }

  /** Returns the milliseconds until the next probe of the model. undefined: none is pending on this node. */
  nextProbeInMs(modelId: string): number | undefined {
    const times = this.targetsOf([modelId]).flatMap(({ circuit: { probeInMs } }) => probeInMs ?? []);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** The models whose suspects this node may run, with the addresses at which it may run them. */
  get suspectPlaces(): SuspectPlace[] {
    return [...this.targets].flatMap(({ address, models }) =>
      models.map((modelId) => ({ address, modelId })),
    );
  }

  /** The models that send runs to an address. */
  modelsAt(address: string): string[] {
    return [...this.addresses].flatMap(([id, { targets }]) =>
      targets.some((target) => target.address === address) ? id : [],
    );
  }

  /** True if a model of this node has the address. */
  has(address: string): boolean {
    return this.targetsAt(address).length > 0;
  }

  /** The number of runs of this node at an address. */
  runningAt(address: string): number {
    return this.inUseAt(address).reduce((sum, { running }) => sum + running, 0);
  }

  /** True if this node has no run at the address but a suspect. */
  isClear(address: string): boolean {
    return this.inUseAt(address).every(({ running, suspects }) => running === suspects);
  }

  /** The addresses to which this node sends nothing but suspects. */
  get quarantined(): string[] {
    return [...this.suspects.keys()];
  }

  /**
   * Sets the addresses to which nothing but suspects is sent, each with the model whose suspect is next. That model
   * keeps a slot free for it.
   */
  quarantine(addresses: ReadonlyMap<string, string | undefined>): void {
    const freed = [...this.suspects].flatMap(([address, id]) =>
      id !== undefined && addresses.get(address) !== id ? id : [],
    );
    this.suspects = addresses;
    for (const address of this.busyUntil.keys()) if (!addresses.has(address)) this.busyUntil.delete(address);
    const woken = new Set<string>();
    for (const target of this.targets) {
      const isQuarantined = addresses.has(target.address);
      if (target.isQuarantined && !isQuarantined)
        for (const id of this.modelsAt(target.address)) woken.add(id);
      target.isQuarantined = isQuarantined;
    }
    for (const id of freed) woken.add(id);
    if (woken.size > 0) this.wakes.next([...woken]);
  }

  /** True while this node sends nothing but suspects to some address. */
  get hasQuarantine(): boolean {
    return this.suspects.size > 0;
  }

  /** The number of suspects of the model that may start now, as far as its circuits and other runs allow. */
  suspectsReady(modelId: string): number {
    let count = 0;
    for (const [address, id] of this.suspects) if (id === modelId && this.isReady(modelId, address)) count++;
    return count;
  }

  /** No slot is kept for a suspect at this address for some seconds: another node has a run there. */
  noteBusyElsewhere(address: string): void {
    this.busyUntil.set(address, performance.now() + busyMs);
  }

  /** Returns the destination of a suspect. undefined: another run is there, or the address is away. */
  startSuspect(modelId: string, address: string): Destination | undefined {
    if (this.runningAt(address) > 0) return undefined;
    const target = this.targetForSuspect(modelId, address);
    return target && { target, probe: target.circuit.startProbe(), isSuspect: true };
  }

  /**
   * Returns an address that may have the suspects of one that runs and health checks do not reach. undefined: it is
   * reached, or no other is.
   */
  insteadOf(modelId: string, address: string): string | undefined {
    const targets = this.targetsOf([modelId]);
    const isReached = targets.some((target) => target.address === address && !target.circuit.isUnreached);
    if (isReached) return undefined;
    return targets.find((target) => target.address !== address && !target.isAway)?.address;
  }

  private isReady(modelId: string, address: string): boolean {
    if (this.runningAt(address) > 0 || performance.now() < (this.busyUntil.get(address) ?? 0)) return false;
    return this.targetForSuspect(modelId, address) !== undefined;
  }

  private targetForSuspect(modelId: string, address: string): Target | undefined {
    return this.targetsAt(address).find(({ models, room }) => models.includes(modelId) && room > 0);
  }

  private targetsAt(address: string): Target[] {
    return [...this.targets].filter((target) => target.address === address);
  }

  private inUseAt(address: string): Target[] {
    return [...this.inUse].filter((target) => target.address === address);
  }

  private enter(target: Target): void {
    target.running++;
    this.inUse.add(target);
  }

  private get targets(): Set<Target> {
    return new Set([...this.addresses.values()].flatMap(({ targets }) => targets));
  }

  private targetsOf(modelIds: readonly string[]): Target[] {
    return [...new Set(modelIds.flatMap((id) => this.addresses.get(id)?.targets ?? []))];
  }

  /** The addresses to which this node sends only probes, once for each of their models. */
  get opened(): OpenCircuit[] {
    return [...this.addresses].flatMap(([modelId, addresses]) => {
      if (!addresses.hasCircuits) return [];
      const { areAway: isAway, yieldSlots: yieldsSlots, labels } = addresses;
      return addresses.targets.flatMap(({ circuit: { outage, isProbing, isUnknown } }, at) => {
        if (outage === undefined || isUnknown) return [];
        const sinceMs = this.clock.now() - (performance.now() - outage.since);
        const { reason } = outage;
        return { modelId, address: labels[at]!, reason, sinceMs, isAway, yieldsSlots, isProbing };
      });
    });
  }

  /** Follows the addresses of the models as they are now. An address that stays keeps its state. */
  private follow(): void {
    const before = new Map([...this.targets].map((target) => [keyOf(target.url, target.health), target]));
    const opened = this.opened;
    for (const target of before.values()) target.models = [];
    this.addresses.clear();
    const now = new Map<string, Target>();
    for (const { id, runner, circuit } of this.models.all()) {
      const health = circuit ? runner.healthCheck : undefined;
      const targets = runner.addresses().map((url) => {
        const key = keyOf(url, health);
        const target = now.get(key) ?? before.get(key) ?? new Target(url, this.times, health);
        now.set(key, target);
        target.isQuarantined = this.suspects.has(target.address);
        if (circuit) target.models.push(id);
        return target;
      });
      if (targets.length > 0) this.addresses.set(id, new Addresses(targets, circuit));
    }
    for (const [key, { timer, reminder, models, circuit }] of before) {
      if (now.has(key) && models.length > 0) continue;
      clearTimeout(timer);
      clearInterval(reminder);
      // The outage would have no probe if a later file had the circuit on again.
      circuit.forget();
    }
    const changed = new Set([...opened, ...this.opened].map(({ modelId }) => modelId));
    if (changed.size > 0) this.changes.next([...changed].map((modelId) => ({ modelId, isReached: false })));
    const unchecked = [...now.values()].filter(
      ({ health, circuit }) => health !== undefined && circuit.room === 1,
    );
    if (unchecked.length > 0) this.wakes.next(unchecked.flatMap(({ models }) => models));
  }

  private open(
    target: Target,
    reason: string,
    outage: Outage,
    retryAfterMs: number | undefined,
    probe: Probe | undefined,
  ): void {
    this.change(target, () => {
      const { circuit } = target;
      const wasUnknown = circuit.isUnknown;
      const isOpened = circuit.fail(reason, retryAfterMs, probe, outage === 'free');
      if (!isOpened && circuit.isUnknown === wasUnknown) return;
      // The request that met the outage waits again too, hence 1 more.
      this.warn(target, 'is away', isOpened ? 1 : 0);
      target.reminder = setInterval(() => this.warn(target, 'is still away'), this.times.remindMs).unref();
    });
    this.schedule(target);
  }

  private close(target: Target, probe: Probe | undefined): void {
    const { isUnknown } = target.circuit;
    const wereAway = target.models.filter((id) => !isUnknown && this.addresses.get(id)!.areAway);
    const outage = probe && target.circuit.close(probe);
    if (outage === undefined) return;
    clearTimeout(target.timer);
    clearInterval(target.reminder);
    const seconds = Math.ceil((performance.now() - outage.since) / 1_000);
    if (!isUnknown) this.log.log(`${String(target)} is reachable again after ${seconds} s`);
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
