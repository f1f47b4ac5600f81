import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { assertMayUse, type Caller, priorityOf } from '../auth/caller.js';
import { CallerWatch, type OpenCall } from '../auth/caller-watch.js';
import { DomainError } from '../errors/domain-error.js';
import { chargesOf } from '../http/charges.js';
import { sendReply } from '../http/reply.js';
import { hint } from '../tools/closest.js';
import { ModelsService } from '../models/models.service.js';
import {
  firstLeaseMs,
  type LeasedRun,
  leaseMs,
  type LeaseName,
  maxInlineBytes,
} from '../queue/workers/lease.js';
import { columnOf, runOptionNames } from '../queue/submit/submission-options.js';
import { LeasedRuns } from '../queue/workers/leased-runs.js';
import { WorkerBeats } from '../queue/workers/worker-beats.js';
import { type KnownWorker, KnownWorkers, uidOf } from '../queue/workers/known-workers.js';
import { WorkerClaims } from '../queue/workers/worker-claims.js';
import { WorkerEnds } from '../queue/workers/worker-ends.js';
import type { BeatDto, ClaimDto, WorkerLeaveDto } from './dto.js';
import { readLeaseToken, toLeaseToken } from './lease-token.js';

/** Below 30 s, after which proxies cut silent connections. */
export const maxClaimSeconds = 25;
export const maxBeatSeconds = 10;
const beatSeconds = 10;

/** The calls of workers that are not about one run: claims, beats and leaving. */
@Injectable()
export class WorkerCalls {
  constructor(
    private readonly models: ModelsService,
    private readonly workers: KnownWorkers,
    private readonly claims: WorkerClaims,
    private readonly beats: WorkerBeats,
    private readonly ends: WorkerEnds,
    private readonly watch: CallerWatch,
    private readonly leased: LeasedRuns,
  ) {}

  /** Writes the answer itself. Runs claimed for an answer that nobody reads are given back. */
  async claim(
    caller: Caller,
    claim: ClaimDto,
    waitSeconds: number,
    base: string,
    response: ServerResponse,
  ): Promise<void> {
    const { max = 1 } = claim;
    const { id: workerId, name, version = '', labels = {} } = claim.worker;
    const most = new Map(claim.models.map((model) => [model.model_id, Math.min(max, model.max ?? max)]));
    const models = [...most.keys()];
    for (const id of models) this.assertPulled(caller, id);
    const about = { id: workerId, name: name || workerId, version, labels, models };
    const worker = this.workers.note(caller.keyId, about);
    const claimId = `${caller.keyId} ${claim.claim_id}`;
    const asked = { claimId, worker, models: most, max, hash: hashOf(workerId, most, max) };
    if (waitSeconds > 0) chargesOf(response.req)?.releaseBody();
    holdWith(response, worker, waitSeconds);
    const { answer, drop, fail } = this.claims.claim(asked, waitSeconds * 1_000);
    const call: OpenCall = {
      request: response.req,
      assertAllowed: (now) => models.forEach((id) => assertMayUse(now, id)),
      refuse: fail,
    };
    this.watch.add(call);
    let unread: LeasedRun[] = [];
    // Not `writableFinished`, which is also true for discarded data.
    response.once('finish', () => (unread = []));
    response.once('close', () => {
      drop();
      void this.ends.giveBack(unread);
    });
    const runs = (unread = await answer.finally(() => this.watch.remove(call)));
    if (runs.length > 0) {
      await this.confirm(call, runs);
      this.workers.noteRun(worker);
    }
    if (response.destroyed) return this.ends.giveBack(runs);
    if (waitSeconds > 0) response.setHeader('Preference-Applied', `wait=${waitSeconds}`);
    if (runs.length === 0) response.writeHead(204).end();
    else sendReply(response, { status: 200, body: this.toRuns(runs, base) });
  }

  async beat(
    { keyId }: Caller,
    { worker_id: id, state, leases: tokens }: BeatDto,
    waitSeconds: number,
    response: ServerResponse,
  ): Promise<void> {
    const leases = leasesOf(keyId, tokens);
    const worker = this.workers.note(keyId, { id, state });
    // Its body stays charged while it waits, because its leases stay in memory.
    holdWith(response, worker, waitSeconds);
    const { answer, drop, fail } = this.beats.beat(worker, leases, waitSeconds * 1_000);
    const call: OpenCall = { request: response.req, refuse: fail };
    this.watch.add(call);
    response.once('close', drop);
    const { told, cancel, lost } = await answer.finally(() => this.watch.remove(call));
    await this.watch.confirm(call);
    if (waitSeconds > 0) response.setHeader('Preference-Applied', `wait=${waitSeconds}`);
    const lease_s = leaseMs / 1_000;
    const said = { lease_s, beat_s: beatSeconds, worker: told, cancel, lost };
    sendReply(response, { status: 200, body: JSON.stringify(said) });
  }

  /**
   * Returns requests of the worker to their places in the queue: those of the leases that it names, or all of them. A
   * worker whose next process has runs by then stays.
   */
  async leave({ keyId }: Caller, workerId: string, { leases: tokens }: WorkerLeaveDto): Promise<void> {
    const uid = uidOf(keyId, workerId);
    if (tokens === undefined) {
      this.claims.dropOf(uid);
      await this.ends.releaseAll(uid);
    } else if (await this.ends.releaseSome(uid, leasesOf(keyId, tokens))) return;
    await this.workers.leave(uid);
  }

  /** Gives back runs that were claimed at the moment when the key lost its right to them, instead of answering them. */
  private async confirm(call: OpenCall, runs: readonly LeasedRun[]): Promise<void> {
    try {
      await this.watch.confirm(call);
    } catch (refusal) {
      await this.ends.giveBack(runs);
      throw refusal;
    }
  }

  /**
   * Returns JSON text, because inputs are inserted unchanged. The input comes last, because simple workers take the first
   * field of a name.
   */
  private toRuns(runs: readonly LeasedRun[], base: string): string {
    let left = maxInlineBytes;
    const texts = runs.map((run) => {
      const { id, modelId, failedAttempts, lostAttempts, deadlineAtMs, input } = run;
      const { keyName, tags, priority } = run;
      const said = JSON.stringify({
        request_id: id,
        attempt: failedAttempts + lostAttempts + 1,
        model_id: modelId,
        lease_token: toLeaseToken(run),
        lease_s: firstLeaseMs / 1_000,
        deadline_at: new Date(deadlineAtMs).toISOString(),
        remaining_ms: this.leased.remainingMs(run),
        ...optionsOf(run),
        key_name: keyName,
        tags: tags ?? [],
        priority: priorityOf(priority),
      }).slice(0, -1);
      const bytes = input === null ? Infinity : Buffer.byteLength(input);
      if (bytes > left) return `${said},"input_url":${JSON.stringify(`${base}/v1/worker/runs/${id}/input`)}}`;
      left -= bytes;
      return `${said},"input":${input}}`;
    });
    return `{"runs":[${texts.join(',')}]}`;
  }

  private assertPulled(caller: Caller, id: string): void {
    assertMayUse(caller, id);
    const pulled = this.models.takenBy('workers');
    if (pulled.some((model) => model.id === id)) return;
    const name = this.models.get(id) === undefined ? `no model "${id}" here` : `no worker's model "${id}"`;
    const near =
      hint(
        id,
        pulled.map((model) => model.id),
      ) || '; set its runner to { kind: worker }';
    // The worker continues with its other models.
    const extensions = { model_id: id };
    throw new DomainError('unknown_model', `There is ${name}${near}.`.replace(/\?\.$/, '?'), { extensions });
  }
}

/** While its connection is open, the call shows that its worker is alive. A call that waits is charged to its key. */
function holdWith(response: ServerResponse, worker: KnownWorker, waitSeconds: number): void {
  if (waitSeconds > 0) chargesOf(response.req)?.take('workerCalls', 1);
  if (!response.destroyed) response.once('close', worker.noteOpenCall());
}

/** Hashes what the claim asks for. The worker's own data, except its id, may change between repeats. */
function hashOf(workerId: string, models: ReadonlyMap<string, number>, max: number): Buffer {
  const sorted = [...models].sort(([one], [other]) => (one < other ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([workerId, sorted, max]))
    .digest();
}

const optionNames = runOptionNames.map((option) => [option, columnOf(option)] as const);

/** Returns the options of its submission that the run has, by their names in the API. */
function optionsOf(run: LeasedRun): Record<string, unknown> {
  const options: Record<string, unknown> = {};
  for (const [option, name] of optionNames) if (run[option] !== null) options[name] = run[option];
  return options;
}

/** A repeated lease counts once. */
function leasesOf(keyId: string, tokens: readonly unknown[]): LeaseName[] {
  const leases = tokens.map((text, i) => {
    const lease = typeof text === 'string' ? readLeaseToken(keyId, text) : undefined;
    if (lease !== undefined) return lease;
    throw new DomainError('bad_request', `The option "leases[${i}]": expected the lease_token of a run.`);
  });
  return [...new Map(leases.map((lease) => [lease.token, lease])).values()];
}
