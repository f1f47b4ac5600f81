import { Injectable } from '@nestjs/common';
import { AddressRule } from '../addresses/address-rule.js';
import { assertMayUse, type Caller, mayUse, type Priority, rankOf } from '../auth/caller.js';
import type { Adapter } from '../config/adapter.js';
import { Clock } from '../database/clock.js';
import { DomainError } from '../errors/domain-error.js';
import { hint } from '../tools/closest.js';
import { isModelId, type Model } from '../models/model.js';
import { ModelsService } from '../models/models.service.js';
import { ticksFor } from '../queue/waiting/fair-queue.js';
import type { WaitingBounds } from '../queue/submit/backlog.js';
import type { StatusRow } from '../queue/reads/status-row.js';
import { asGiven, type SubmissionOptions } from '../queue/submit/submission-options.js';
import type { NewRequest } from '../queue/submit/submissions.js';
import type { TraceContext } from '../tracing/trace-context.js';
import { noOptions, type SubmitQuery } from './dto/submit.query.js';

const maxDelayMs = 30 * 86_400_000;

/** Applies the rules for what a submission may ask for, whichever route it uses. */
@Injectable()
export class NewRequests {
  constructor(
    private readonly models: ModelsService,
    private readonly clock: Clock,
    private readonly addresses: AddressRule,
  ) {}

  /** Returns the model that the caller may use under this id. */
  modelOf(caller: Caller, modelId: string | undefined): Model {
    if (modelId !== undefined) assertMayUse(caller, modelId);
    const asked = modelId ?? '';
    const model = this.models.get(asked);
    if (model !== undefined) return model;
    // Suggests only models that the caller may use. Other models are not revealed to a key.
    const usable = this.models.all().flatMap(({ id }) => (mayUse(caller, id) ? [id] : []));
    const name = isModelId(asked) ? `model "${asked}"` : 'such model';
    throw new DomainError('unknown_model', `There is no ${name} here${hint(asked, usable) || '.'}`);
  }

  /** Returns the model that the caller may use under this id or alias, for adapters. */
  modelNamed(caller: Caller, name: string | undefined): Model {
    return this.modelOf(caller, name && (this.models.idOf(name) ?? name));
  }

  assertWebhookUrl(url: string): void {
    this.addresses.assertWebhookUrl(url);
  }

  assertPriority({ maxPriority }: Caller, priority: Priority): void {
    if (rankOf(priority) >= rankOf(maxPriority)) return;
    const allowed = `the highest priority of this API key is ${maxPriority}`;
    throw new DomainError('forbidden', `The priority ${priority} is not allowed: ${allowed}.`);
  }

  /** `input` was checked. `base`: the beginning of URLs about the request, if it is known. */
  of(caller: Caller, model: Model, input: Buffer, options: SubmitQuery, base: string | null): NewRequest {
    const priority = options.priority ?? defaultPriority(caller);
    this.assertPriority(caller, priority);
    const waitMs = this.waitMsOf(options);
    const expiresMs = atMost('expires', options.expires, model.expiresMs);
    const extras = this.extrasOf(options, model, waitMs);
    const bounds = boundsOf(model, caller);
    return {
      modelId: model.id,
      keyId: caller.keyId,
      priority: rankOf(priority),
      ticks: ticksFor(model.order, caller.weight),
      isBounded: caller.maxRunning !== null,
      input,
      expiresMs: expiresMs === null ? null : waitMs + expiresMs,
      baseUrl: base,
      ...(bounds !== undefined && { bounds }),
      ...(extras !== undefined && { options: extras }),
    };
  }

  /** Returns what a completed request may have when it is submitted again, by the current rules. */
  again(caller: Caller, { id, modelId, priority }: Pick<StatusRow, 'id' | 'modelId' | 'priority'>) {
    const model = this.modelOf(caller, modelId);
    const { expiresMs: maxExpiresMs, timeoutMs: maxTimeoutMs } = model;
    return {
      request: {
        modelId,
        keyId: caller.keyId,
        priority: Math.max(priority, rankOf(caller.maxPriority)),
        ticks: ticksFor(model.order, caller.weight),
        isBounded: caller.maxRunning !== null,
        bounds: boundsOf(model, caller),
      },
      terms: { originalId: id, maxExpiresMs, maxTimeoutMs },
    };
  }

  /** Milliseconds until it joins the queue. 0: at once. */
  private waitMsOf({ not_before: notBefore, delay }: SubmitQuery): number {
    if (notBefore !== undefined && delay !== undefined) {
      throw new DomainError('invalid_query', 'Give either "not_before" or "delay", not both.');
    }
    const waitMs = Math.max(0, notBefore === undefined ? (delay ?? 0) : notBefore - this.clock.now());
    if (waitMs <= maxDelayMs) return waitMs;
    const name = delay === undefined ? 'not_before' : 'delay';
    throw new DomainError('invalid_query', `The option "${name}" takes a time at most 30 days ahead.`);
  }

  /** undefined for most submissions. */
  private extrasOf(options: SubmitQuery, model: Model, waitMs: number): SubmissionOptions | undefined {
    if (options === noOptions) return undefined;
    const { webhook: webhookUrl, expires, timeout } = options;
    if (webhookUrl !== undefined) this.addresses.assertWebhookUrl(webhookUrl);
    const extras: SubmissionOptions = {
      ...asGiven(options),
      webhookUrl,
      timeoutMs: timeout && atMost('timeout', timeout, model.timeoutMs)!,
      notBefore: waitMs > 0 ? new Date(this.clock.now() + waitMs).toISOString() : undefined,
      hasOwnExpiry: expires === undefined ? undefined : true,
    };
    return Object.values(extras).some((value) => value !== undefined) ? extras : undefined;
  }
}

/** undefined for most submissions. */
function boundsOf(
  { paused, maxWaiting: ofModel }: Model,
  { maxWaiting: ofKey }: Caller,
): WaitingBounds | undefined {
  const isPaused = paused === 'reject';
  return isPaused || ofModel !== null || ofKey !== null ? { isPaused, ofModel, ofKey } : undefined;
}

/** What an adapter adds to a submission. */
export interface AdapterTerms {
  adapter: Adapter;
  /** A URL that is called about the run of the request, and the events that it gets. */
  runWebhook?: { url: string; events: readonly string[] } | undefined;
  /** What submissions with the same `Idempotency-Key` must have in common. Default: the input. */
  sameIn?: Buffer | string | undefined;
}

/** Returns `made` itself if there is nothing to add, which is the usual case. */
export function withOptions<Request extends NewRequest>(
  made: Request,
  trace: TraceContext | undefined,
  by?: AdapterTerms,
): Request {
  if (trace === undefined && by === undefined) return made;
  const ofAdapter = by && {
    adapter: by.adapter,
    startWebhookUrl: by.runWebhook?.url,
    runWebhookEvents: by.runWebhook?.events,
  };
  return { ...made, options: { ...made.options, ...trace, ...ofAdapter } };
}

/** A key whose highest priority is below normal submits with that priority. */
function defaultPriority({ maxPriority }: Caller): Priority {
  return maxPriority === 'high' ? 'normal' : maxPriority;
}

/** Returns `ms`, or the bound if it is undefined. null: there is no bound. */
function atMost(name: string, ms: number | undefined, maxMs: number | null): number | null {
  if (ms === undefined || maxMs === null || ms <= maxMs) return ms ?? maxMs;
  const message = `The option "${name}" takes at most ${maxMs / 1_000}s for this model.`;
  throw new DomainError('invalid_query', message);
}
