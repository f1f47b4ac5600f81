import { Injectable, Logger } from '@nestjs/common';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Clock } from '../../database/clock.js';
import { Database } from '../../database/database.js';
import type { Model } from '../../models/model.js';
import { ModelsService } from '../../models/models.service.js';
import type { Destination } from '../circuits/addresses.js';
import { Circuits } from '../circuits/circuits.js';
import { BoundedKeys } from '../waiting/bounded-keys.js';
import { Cluster } from '../cluster/cluster.js';
import { lowest, Slots } from '../cluster/slots.js';
import {
  claim,
  claimSuspect,
  type Claimed,
  type ClaimFloor,
  entriesOf,
  startedOf,
  type StartOptions,
} from './queries/claim.js';
import type { Submission } from '../submit/queries/submission.js';
import { firstStart, submitStarted } from '../submit/queries/submit-started.js';
import type { Submitted } from '../submit/queries/submit.js';
import { runOptionsOf } from '../submit/submission-options.js';
import { QueueEvents } from '../queue-events.js';
import { WaitingIndex } from '../waiting/waiting-index.js';
import { claimPatienceMs } from './claim-pump.js';
import { GroupTurns } from './group-turns.js';
import { ModelDispatcher } from './model-dispatcher.js';
import { Runs } from './runs.js';

/**
 * Starts requests in the free slots of this node: waiting requests when something may have changed, and a submission
 * at once if nothing waits before it. Capacity is kept in memory, so a model at its limit costs no query.
 */
@Injectable()
export class Dispatcher {
  /**
   * By model. Includes models that have left the file, or that workers run now: their runs may finish, and nothing
   * starts.
   */
  private readonly dispatchers = new Map<string, ModelDispatcher>();
  private readonly log = new Logger(Dispatcher.name);
  private onUnclaimed = (): void => undefined;
  private accepting = false;
  private readonly startsInFlight = new Set<Promise<unknown>>();

  constructor(
    private readonly database: Database,
    private readonly models: ModelsService,
    private readonly events: QueueEvents,
    private readonly runs: Runs,
    private readonly index: WaitingIndex,
    private readonly slots: Slots,
    private readonly cluster: Cluster,
    private readonly circuits: Circuits,
    private readonly clock: Clock,
    private readonly boundedKeys: BoundedKeys,
    private readonly turns: GroupTurns,
  ) {
    this.follow();
    models.changes.subscribe(() => {
      for (const id of this.follow()) this.wake(id);
    });
    events.subscribe(({ work, toStop, lost }) => {
      for (const id of work ?? []) this.wake(id);
      for (const id of toStop ?? []) runs.abort(id, 'cancelled');
      for (const id of lost ?? []) void runs.stopIfLost(id);
    });
    circuits.wakes.subscribe((ids) => void this.wakeInTurn(ids));
  }

  /** `onUnclaimed`: called when requests wait and slots are free, but no event here would cause another claim. */
  open(onUnclaimed: () => void): void {
    this.accepting = true;
    this.onUnclaimed = onUnclaimed;
  }

  /** Starts no more runs; current runs continue. Waits for claims in flight, because they also start runs. */
  async close(): Promise<void> {
    this.accepting = false;
    for (const { ended } of this.dispatchers.values()) await ended;
    await Promise.allSettled(this.startsInFlight);
  }

  modelsWithRoom(): string[] {
    return [...this.dispatchers.values()]
      .filter(({ model, isRunning }) => !isRunning && this.room(model) > 0)
      .map(({ model }) => model.id);
  }

  /** True if a request of the model would be started at once, as far as this node knows. */
  hasRoomNow(modelId: string, priority: number): boolean {
    const dispatcher = this.dispatchers.get(modelId);
    if (dispatcher === undefined || dispatcher.isRunning || !this.accepting) return false;
    // While a circuit is open, only the request at the front may start, as its probe.
    const areCircuitsClosed = this.circuits.room(modelId) === Infinity && !this.circuits.isProbeDue(modelId);
    const hasRoom = this.room(dispatcher.model) > 0 && this.slots.free(modelId, priority) > 0;
    const mayStart = this.cluster.connected && areCircuitsClosed && hasRoom;
    return mayStart && this.index.claimable(modelId) === 0;
  }

  /**
   * Writes a request and starts it in the same commit, or does neither (undefined). Called only if there is room now.
   */
  submitAndStart(submission: Submission): Promise<Submitted | undefined> {
    const starting = this.startNow(this.dispatchers.get(submission.modelId)!, submission);
    this.startsInFlight.add(starting);
    return starting.finally(() => this.startsInFlight.delete(starting));
  }

  /** Starts the first suspect of a model at an address without other runs, if there is room for it. */
  async startSuspect(modelId: string, address: string): Promise<void> {
    const dispatcher = this.dispatchers.get(modelId);
    if (dispatcher === undefined || !this.accepting || !this.cluster.connected) return;
    const { model } = dispatcher;
    // Its priority is not known yet, so it gets no reserved slot.
    if (this.isBarred(model) || this.slots.free(modelId, lowest) === 0) return;
    const destination = this.circuits.startSuspect(modelId, address);
    if (destination === undefined) return;
    const { generation } = this.slots;
    this.slots.take(modelId, 1, lowest);
    const options = { modelId, ...this.startTerms(model) };
    const starting = claimSuspect(this.database, options, address, this.circuits.modelsAt(address));
    this.startsInFlight.add(starting);
    const claimed = await starting
      .catch((error: unknown) => {
        this.runs.lostClaimAt = performance.now();
        this.log.debug(`claim of a suspect of ${modelId} failed: ${(error as Error).message}`);
        return [];
      })
      .finally(() => this.startsInFlight.delete(starting));
    if (claimed.length === 0) {
      this.circuits.skipProbe(destination);
      this.circuits.noteBusyElsewhere(address);
      this.release(dispatcher, lowest);
      return;
    }
    this.slots.release(modelId, 1, lowest);
    for (const { priority } of claimed) this.slots.take(modelId, 1, priority);
    this.events.publish({ started: entriesOf(modelId, claimed), changed: claimed.map(({ id }) => id) });
    // A suspect is taken out of its turn, so its queue key must not become the claim floor.
    const { lastStarted } = dispatcher;
    this.execute(dispatcher, claimed, generation, [destination]);
    dispatcher.lastStarted = lastStarted;
  }

  wake(modelId: string): void {
    const dispatcher = this.dispatchers.get(modelId);
    if (dispatcher === undefined || !this.accepting) return;
    if (dispatcher.isRunning || this.room(dispatcher.model) > 0) void dispatcher.run();
  }

  /** Takes the models as they are now. Returns those that have changed. */
  private follow(): string[] {
    for (const dispatcher of this.dispatchers.values()) {
      const { model } = dispatcher;
      if (this.models.get(model.id)?.takenBy !== 'nodes') dispatcher.model = { ...model, paused: 'hold' };
    }
    return this.models.takenBy('nodes').flatMap((model) => {
      const known = this.dispatchers.get(model.id);
      if (known?.model === model) return [];
      if (known === undefined) this.dispatchers.set(model.id, this.dispatcherOf(model));
      else known.model = model;
      return model.id;
    });
  }

  private dispatcherOf(model: Model): ModelDispatcher {
    const dispatcher: ModelDispatcher = new ModelDispatcher(
      model,
      () => this.fillSlots(dispatcher),
      () => this.noteEnd(dispatcher),
    );
    return dispatcher;
  }

  /** Gives the probe to the first model with a request among the models behind one circuit. */
  private async wakeInTurn(modelIds: readonly string[]): Promise<void> {
    for (const id of modelIds) {
      this.wake(id);
      const dispatcher = this.dispatchers.get(id);
      await dispatcher?.ended;
      // A suspect may have left its slot to them.
      if (dispatcher !== undefined) this.wakeOthersInGroup(dispatcher.model);
    }
  }

  private room(model: Model): number {
    const room = this.roomBesideOthers(model);
    return model.group === null || room === 0 ? room : Math.min(room, this.roomInGroup(model));
  }

  /** The room of a model if the other models of its group leave it the slots. */
  private roomBesideOthers(model: Model): number {
    if (this.isBarred(model)) return 0;
    const priority = this.slots.lowestFree(model.id);
    // Only reserved slots are free, and what waits may not use them.
    if (priority < lowest && (this.index.next(model.id)?.priority ?? priority) > priority) return 0;
    const own = this.slots.free(model.id, priority) - this.slotsForSuspects(model);
    const members = [model, ...this.othersInGroup(model)];
    const inGroup = this.slots.freeInGroup(model.id) - this.slotsForSuspects(...members);
    return Math.max(0, Math.min(own, inGroup, this.circuits.room(model.id)));
  }

  /** The number of free slots that other requests leave to suspects of these models. */
  private slotsForSuspects(...models: readonly Model[]): number {
    const slots = models.map((model) => {
      const ready = this.circuits.suspectsReady(model.id);
      return ready === 0 || this.isBarred(model) ? 0 : Math.min(ready, this.slots.free(model.id, lowest));
    });
    return slots.reduce((sum, count) => sum + count, 0);
  }

  /** One model of a group claims at a time: what it starts decides who is next. */
  private roomInGroup(model: Model): number {
    const isClaiming = this.othersInGroup(model).some(
      ({ id }) => this.dispatchers.get(id)?.isRunning === true,
    );
    return isClaiming ? 0 : this.turns.room(model, (other) => this.roomBesideOthers(other) > 0);
  }

  private othersInGroup({ id, group }: Model): readonly Model[] {
    return group === null ? [] : this.models.membersOf(group).filter((other) => other.id !== id);
  }

  private wakeOthersInGroup(model: Model): void {
    for (const other of this.othersInGroup(model)) if (this.turns.hasWork(other)) this.wake(other.id);
  }

  /** True if nothing of the model may start here now, whatever is free. */
  private isBarred(model: Model): boolean {
    return this.isStopped(model) || this.runs.isResting(model.id);
  }

  private isStopped({ paused }: Model): boolean {
    return paused !== null || this.cluster.isDraining;
  }

  private async startNow(
    dispatcher: ModelDispatcher,
    submission: Submission,
  ): Promise<Submitted | undefined> {
    const { model } = dispatcher;
    const { generation } = this.slots;
    this.slots.take(model.id, 1, submission.priority);
    const { timeoutMs = null } = submission.options ?? {};
    const options = this.startOptions(dispatcher, dispatcher.lastStarted);
    options.timeoutMs = timeoutMs ?? options.timeoutMs;
    const started = await submitStarted(this.database, submission, options).catch((error: unknown) => {
      this.runs.lostClaimAt = performance.now();
      this.release(dispatcher, submission.priority);
      throw error;
    });
    if (started === undefined) {
      dispatcher.invalidateFloor();
      this.release(dispatcher, submission.priority);
      return undefined;
    }
    this.turns.noteStart(model.id);
    const { id, keyId, priority, virtualStart: start, input } = submission;
    const inputBytes = input.length;
    this.events.emit('request.submitted', () => [{ id, modelId: model.id, keyId, inputBytes }]);
    const own = { timeoutMs, ...runOptionsOf(submission.options), input: input.toString() };
    this.execute(dispatcher, [{ id, priority, start, ...started, ...firstStart, ...own }], generation);
    return { id, seq: started.seq };
  }

  private async fillSlots(dispatcher: ModelDispatcher): Promise<void> {
    let claiming = this.claimInto(dispatcher);
    while (claiming !== undefined) {
      const execute = await claiming;
      claiming = dispatcher.hasMore ? this.claimInto(dispatcher) : undefined;
      // The database works on the next claim while this process starts the runs of the last one.
      if (claiming !== undefined) await nextTurn();
      execute();
    }
  }

  /** A claim may have failed, or found its rows locked. There may be no run whose end would claim again. */
  private noteEnd({ model }: ModelDispatcher): void {
    if (this.accepting && this.room(model) > 0 && this.index.claimable(model.id) > 0) this.onUnclaimed();
    this.wakeOthersInGroup(model);
  }

  /** Resolves to a function that starts the claimed requests. undefined: there is no room. Never rejects. */
  private claimInto(dispatcher: ModelDispatcher): Promise<() => void> | undefined {
    const { model } = dispatcher;
    const limit = Math.min(dispatcher.maxItems, this.room(model));
    if (limit <= 0 || !this.accepting || !this.cluster.connected) return undefined;
    const priority = this.slots.lowestFree(model.id);
    this.slots.take(model.id, limit, priority);
    return this.claim(dispatcher, limit, priority, this.circuits.startProbes(model.id, limit));
  }

  private async claim(
    dispatcher: ModelDispatcher,
    limit: number,
    priority: number,
    probes: readonly Destination[],
  ): Promise<() => void> {
    const { id: modelId } = dispatcher.model;
    const { generation } = this.slots;
    // Requests that another node gave back may not be known here yet, and the probe must be the request at the front.
    if (probes.length > 0) dispatcher.invalidateFloor();
    const options = this.startOptions(dispatcher, this.index.head(modelId));
    const lowestPriority = priority === lowest ? undefined : priority;
    const answer = await claim(this.database, { modelId, limit, lowestPriority, ...options }).catch(
      (error: unknown) => {
        this.runs.lostClaimAt = performance.now();
        this.log.debug(`claim for ${modelId} failed: ${(error as Error).message}`);
        return undefined;
      },
    );
    dispatcher.noteClaim(limit, answer?.length);
    const claimed = answer ?? [];
    this.turns.noteClaim(dispatcher.model, claimed.length);
    this.slots.release(modelId, limit, priority);
    for (const one of claimed) this.slots.take(modelId, 1, one.priority);
    this.events.publish({ started: entriesOf(modelId, claimed), changed: claimed.map(({ id }) => id) });
    for (const probe of probes.slice(claimed.length)) this.circuits.skipProbe(probe);
    return () => this.execute(dispatcher, claimed, generation, probes.slice(0, claimed.length));
  }

  private startOptions(dispatcher: ModelDispatcher, floor: ClaimFloor | undefined): StartOptions {
    return { floor: dispatcher.floorAt(floor), ...this.startTerms(dispatcher.model) };
  }

  private startTerms({ id, timeoutMs }: Model): Omit<StartOptions, 'floor'> {
    return {
      nodeId: this.cluster.nodeId,
      timeoutMs,
      slotRound: this.slots.round(id),
      byMs: this.clock.now() + claimPatienceMs,
    };
  }

  private execute(
    dispatcher: ModelDispatcher,
    claimed: Claimed[],
    generation: number,
    probes: readonly Destination[] = [],
  ): void {
    const { model } = dispatcher;
    // The answer came too late: by now, the slots and the leases may be another node's.
    const isLost = this.slots.generation !== generation || !this.cluster.connected;
    const mustNotStart = isLost || this.isStopped(model);
    if (mustNotStart) for (const probe of probes) this.circuits.skipProbe(probe);
    // undefined: the run must not start, because of the above, or because the model has become unreachable.
    const destinations = claimed.map((_, at) =>
      mustNotStart ? undefined : this.circuits.startRun(model.id, probes[at]),
    );
    const release = ({ boundedKeyId: keyId, priority }: Claimed): void => {
      this.release(dispatcher, priority);
      if (keyId !== null) void this.boundedKeys.release({ keyId, modelId: model.id });
    };
    if (!destinations.includes(undefined)) dispatcher.lastStarted = claimed.at(-1) ?? dispatcher.lastStarted;
    this.events.emit('request.started', () =>
      claimed.flatMap((one, at) => {
        const destination = destinations[at];
        const probe = destination?.probe !== undefined && { isProbe: true };
        return destination === undefined ? [] : { ...startedOf(model.id, one), ...probe };
      }),
    );
    claimed.forEach((one, at) => {
      const destination = destinations[at];
      const ended = destination
        ? this.runs.execute(one, model, destination)
        : this.runs.release(one, model, probes[at]?.isSuspect);
      void ended
        .catch((error: Error) => this.log.error(`run of ${one.id} broke: ${error.stack ?? error.message}`))
        .then(() => release(one));
    });
  }

  private release(dispatcher: ModelDispatcher, priority: number): void {
    const { id } = dispatcher.model;
    this.slots.release(id, 1, priority);
    if (dispatcher.hasMore || dispatcher.isFloorless || this.index.claimable(id) > 0) this.wake(id);
    this.wakeOthersInGroup(dispatcher.model);
  }
}
