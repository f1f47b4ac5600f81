import { Injectable } from '@nestjs/common';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Database } from '../../database/database.js';
import type { Pipeline } from '../../database/pipeline.js';
import type { Queries } from '../../database/statement.js';
import { DomainError } from '../../errors/domain-error.js';
import { Batcher } from '../../tools/batcher.js';
import type { TraceContext } from '../../tracing/trace-context.js';
import { Tracing } from '../../tracing/tracing.js';
import { FileUses, mayNameFiles } from '../retention/file-uses.js';
import { retry, type Retry } from './queries/retry.js';
import type { Submission } from './queries/submission.js';
import { findReserved, type Idempotency, keyName, type Known, submitOnce } from './queries/submit-once.js';
import { submit, type Submitted } from './queries/submit.js';
import { Dispatcher } from '../runs/dispatcher.js';
import { WaitingIndex } from '../waiting/waiting-index.js';
import { Backlog, type Coming, type Leave } from './backlog.js';
import { RequestIds } from './request-id.js';
import { type Placed, SubmissionWriter, type WritePath, type Written } from './submission-writer.js';

export type { Idempotency } from './queries/submit-once.js';

/** Inputs from this size on keep PostgreSQL busier than this process, so several of PostgreSQL's processes help. */
const largeBytes = 16 * 1024;

/** A request that is written, unless its idempotency key was used before. */
type Keyed = Coming & { idempotency?: Idempotency | undefined };
export type NewRequest = Keyed &
  Omit<Submission, 'id' | 'virtualStart'> &
  Pick<Placed, 'ticks' | 'isBounded'>;
type Incoming = NewRequest & Submission;

/** What became of a submission. An error: it is unknown whether it was submitted before. */
type Result = Submitted | Known | Error;

export interface Accepted {
  id: string;
  /** True: the request existed already, and this is a repetition of its submission. */
  replayed: boolean;
}

/** The decision of a limit about some requests: the first ones are admitted; `refusal` is the error for the others. */
interface FirstAdmitted {
  admitted: number;
  refusal: DomainError | undefined;
}

/** Runs in the commit of a new request, not for a repetition. */
type Accounting = (queries: Queries, newId: string) => Promise<void>;

/** Accepts submissions: once per idempotency key, started at once if there is room. Also retries completed requests. */
@Injectable()
export class Submissions {
  /** True: a request that never waits is being written. No position depends on it. */
  private startsImmediately = false;
  private readonly pipeline: Pipeline;
  /** Collect requests of many calls for one commit: small ones that `submit` can write, other small ones, large ones. */
  private readonly plain: Batcher<Incoming, Written<Result>>;
  private readonly otherSmall: Batcher<Incoming, Written<Result>>;
  private readonly large: Batcher<Incoming, Written<Result>>;

  constructor(
    private readonly database: Database,
    private readonly writer: SubmissionWriter,
    private readonly dispatcher: Dispatcher,
    private readonly index: WaitingIndex,
    private readonly ids: RequestIds,
    private readonly files: FileUses,
    private readonly backlog: Backlog,
    private readonly tracing: Tracing,
  ) {
    this.pipeline = database.pipeline();
    const weigh = ({ input }: Incoming): number => input.length;
    const options = { maxItems: 128, maxWeight: 512 * 1024, weigh, writers: 3 };
    const ofSmall = { ...options, maxWeight: 1024 * 1024, earlyItems: 16, itemsBehind: 8 };
    this.plain = new Batcher((items) => this.writeAll(items, 'pipeline'), ofSmall);
    this.otherSmall = new Batcher((items) => this.writeAll(items), ofSmall);
    this.large = new Batcher((items) => this.writeAll(items), options);
  }

  /** Throws what refuses the request. */
  submit(request: NewRequest): Promise<Accepted> {
    return this.traced([request], async (requests) => orThrow((await this.accept(requests))[0]!));
  }

  /** Submits requests of one API key, in one commit and in their order. Returns refusals in the places of requests. */
  submitMany(requests: readonly NewRequest[]): Promise<(Accepted | DomainError)[]> {
    return this.traced(requests, (traced) => this.accept(traced));
  }

  /**
   * Submits requests of one API key in one transaction with `accounting`: those before the first that is refused. If
   * `accounting` rejects, none is submitted. They have no idempotency keys. `limit` is asked once, about the first
   * requests that the bounds admit, so that it counts no other.
   */
  submitFirst(
    requests: readonly NewRequest[],
    limit: (count: number) => Promise<FirstAdmitted>,
    accounting: (queries: Queries, newIds: readonly string[]) => Promise<void>,
  ): Promise<{ ids: readonly string[]; refusal: DomainError | undefined }> {
    return this.traced(requests, async (traced) => {
      const { settled, leave } = await this.admit(traced);
      const end = settled.findIndex((one) => one !== undefined);
      const write = async () => {
        const { admitted, refusal } = await limit(end === -1 ? traced.length : end);
        const items = traced
          .slice(0, admitted)
          .map((request) => ({ ...request, id: this.ids.next(), virtualStart: 0 }));
        const written = items.length === 0 ? [] : await this.writeWith(items, accounting);
        return { ids: items.map(({ id }) => id), refusal, visibleAfter: written[0]?.visibleAfter };
      };
      const { ids, refusal, visibleAfter } = await write().finally(leave);
      await visibleAfter;
      return { ids, refusal: refusal ?? (settled[end] as DomainError | undefined) };
    });
  }

  /** Submits a completed request again; undefined: its input is deleted. Throws what refuses it. */
  retry(
    request: Coming & Pick<NewRequest, 'priority' | 'ticks' | 'isBounded'>,
    terms: Pick<Retry, 'originalId' | 'maxExpiresMs' | 'maxTimeoutMs' | 'trace' | 'idempotency'>,
    accounting?: Accounting,
  ): Promise<Accepted | undefined> {
    const { idempotency } = terms;
    const write = async (trace: TraceContext | undefined): Promise<Accepted | undefined> => {
      const { settled, leave } = await this.admit([{ ...request, idempotency }]);
      if (settled[0] !== undefined) return orThrow(acceptedOf(settled[0], idempotency?.fingerprint));
      const item = { ...request, id: this.ids.next(), virtualStart: 0 };
      const retrying = (): Promise<Result | undefined> =>
        this.retryOn(request.keyId, { ...terms, ...item, trace }, accounting);
      const [written] = await this.writer.write([item], async () => [await retrying()]).finally(leave);
      const { result, visibleAfter } = written!;
      await visibleAfter;
      return result && orThrow(acceptedOf(result, idempotency?.fingerprint));
    };
    const { modelId } = request;
    return this.tracing.send([modelId], terms.trace, (sentFor) => write(sentFor(modelId)));
  }

  /** Returns what was submitted before under this idempotency key; undefined: nothing. Throws if it was another call. */
  async submittedBefore(keyId: string, idempotency: Idempotency): Promise<Accepted | undefined> {
    const { key, fingerprint } = idempotency;
    const known = (await findReserved(this.database, keyId, [key])).get(key);
    return known && orThrow(acceptedOf(known, fingerprint));
  }

  /** If spans are sent, each model of the requests has one, which is stored as the cause of what is written. */
  private traced<T>(
    requests: readonly NewRequest[],
    write: (requests: readonly NewRequest[]) => Promise<T>,
  ): Promise<T> {
    if (!this.tracing.sendsSpans) return write(requests);
    const modelIds = requests.map(({ modelId }) => modelId);
    // The requests come with one call, and so in one trace.
    const above = requests[0] && contextOf(requests[0]);
    return this.tracing.send(modelIds, above, (sentFor) =>
      write(requests.map((one) => ({ ...one, options: { ...one.options, ...sentFor(one.modelId) } }))),
    );
  }

  private async accept(requests: readonly NewRequest[]): Promise<(Accepted | DomainError)[]> {
    const { settled, leave } = await this.admit(requests);
    const items = requests
      .filter((_, i) => settled[i] === undefined)
      .map((request) => ({ ...request, id: this.ids.next(), virtualStart: 0 }));
    const written = items.length === 0 ? [] : await this.write(items).finally(leave);
    await written[0]?.visibleAfter;
    let at = 0;
    return requests.map(({ idempotency }, i) =>
      acceptedOf(settled[i] ?? written[at++]!.result, idempotency?.fingerprint),
    );
  }

  /**
   * Admits requests of one API key. `settled`: in the place of a request that is not written, its refusal, or what was
   * submitted before under its idempotency key, which takes no room. `leave` is called after the write.
   */
  private async admit(
    requests: readonly Keyed[],
  ): Promise<{ settled: (Known | DomainError | undefined)[]; leave?: Leave }> {
    if (requests.every(({ bounds }) => bounds === undefined)) return { settled: [] };
    const firsts = firstsOf(requests);
    const coming = [...new Set(firsts)];
    const keys = coming.flatMap(({ idempotency }) => idempotency?.key ?? []);
    let known: ReadonlyMap<string, Known> = new Map();
    const knownOf = ({ idempotency }: Keyed): Known | undefined => idempotency && known.get(idempotency.key);
    let entered = await this.backlog.enter(coming);
    if (entered.refusals.size > 0 && keys.length > 0) {
      known = await findReserved(this.database, requests[0]!.keyId, keys).catch((error: unknown) => {
        entered.leave();
        throw error;
      });
    }
    if (known.size > 0) {
      entered.leave();
      entered = await this.backlog.enter(coming.filter((one) => knownOf(one) === undefined));
    }
    const { refusals, leave } = entered;
    return { settled: firsts.map((first) => knownOf(first) ?? refusals.get(first)), leave };
  }

  /** A single request starts at once if there is room. If not, it shares a commit with those of other calls. */
  private async write(items: Incoming[]): Promise<Written<Result>[]> {
    if (items.some(({ input }) => mayNameFiles(input))) await this.files.ofInputs(items);
    if (items.length > 1) return this.writeAll(items);
    const item = items[0]!;
    const started = this.mayStartNow(item) ? await this.startImmediately(item) : undefined;
    if (started !== undefined) return [{ result: started, visibleAfter: undefined }];
    const small = isPlain(item) ? this.plain : this.otherSmall;
    return [await (item.input.length < largeBytes ? small : this.large).add(item)];
  }

  private mayStartNow(item: Incoming): boolean {
    const mayStart = isPlain(item) && item.options?.notBefore === undefined;
    return mayStart && this.isIdle && this.dispatcher.hasRoomNow(item.modelId, item.priority);
  }

  /** True if nothing is being written that a submission could share a statement with. */
  private get isIdle(): boolean {
    const areIdle = this.plain.isIdle && this.otherSmall.isIdle && this.large.isIdle;
    return this.writer.isIdle && areIdle && !this.startsImmediately;
  }

  /** undefined: other requests wait before it, and nothing was written. */
  private async startImmediately(submission: Submission): Promise<Submitted | undefined> {
    // It waits for no other request, and takes no turn.
    submission.virtualStart = this.index.virtualTime(submission.modelId, submission.priority);
    this.startsImmediately = true;
    let started: Submitted | undefined;
    try {
      started = await this.dispatcher.submitAndStart(submission);
    } finally {
      this.startsImmediately = false;
    }
    // What starts its run is sent in this turn of the event loop, the caller's answer in the next.
    if (started !== undefined) await nextTurn();
    return started;
  }

  /** Writes all in one commit. Of several with one idempotency key of an API key, the first is the submission. */
  private async writeAll(items: Incoming[], path: WritePath = 'connection'): Promise<Written<Result>[]> {
    if (items.every(isPlain)) {
      const queries = path === 'pipeline' ? this.pipeline : this.database;
      return this.writer.write(items, () => submit(queries, items), path);
    }
    const firsts = firstsOf(items);
    const placed = [...new Set(firsts)];
    const written = await this.writer.write(placed, () => submitOnce(this.database, placed));
    const own = new Map(placed.map((item, i) => [item, written[i]!]));
    return items.map((item, i) => {
      const first = firsts[i]!;
      const { result, visibleAfter } = own.get(first)!;
      return { result: item === first ? result : repeatedOf(result, first.idempotency!), visibleAfter };
    });
  }

  private async writeWith(
    items: Incoming[],
    accounting: (queries: Queries, newIds: readonly string[]) => Promise<void>,
  ): Promise<Written<Result>[]> {
    if (items.some(({ input }) => mayNameFiles(input))) await this.files.ofInputs(items);
    return this.writer.write(items, () =>
      this.database.transaction(async (query) => {
        const rows = await (items.every(isPlain) ? submit({ query }, items) : submitOnce({ query }, items));
        const ids = items.map(({ id }) => id);
        await accounting({ query }, ids);
        return rows;
      }),
    );
  }

  private retryOn(
    keyId: string,
    terms: Retry,
    accounting: Accounting | undefined,
  ): Promise<Result | undefined> {
    if (accounting === undefined) return retry(this.database, keyId, terms);
    return this.database.transaction(async (query) => {
      const result = await retry({ query }, keyId, terms);
      if (result !== undefined && 'seq' in result) await accounting({ query }, result.id);
      return result;
    });
  }
}

const isPlain = ({ idempotency, isBounded }: Incoming): boolean => idempotency === undefined && !isBounded;

/** Returns for each request the first with the same idempotency key, or the request itself. */
function firstsOf<Request extends Keyed>(requests: readonly Request[]): Request[] {
  const firsts = new Map<string, Request>();
  return requests.map((request) => {
    if (request.idempotency === undefined) return request;
    const name = keyName(request.keyId, request.idempotency.key);
    const first = firsts.get(name) ?? request;
    firsts.set(name, first);
    return first;
  });
}

/** Returns the result of other submissions with the idempotency key of the first, whose result is given. */
const repeatedOf = (result: Result, { fingerprint }: Idempotency): Result =>
  'seq' in result ? { id: result.id, fingerprint } : result;

/** `fingerprint`: of this submission; if the request is new, it does not matter. Returns a refusal. */
function acceptedOf(result: Result, fingerprint: Buffer | undefined): Accepted | DomainError {
  if (result instanceof DomainError) return result;
  if (result instanceof Error) throw result;
  if ('seq' in result) return { id: result.id, replayed: false };
  if (fingerprint?.equals(result.fingerprint) === true) return { id: result.id, replayed: true };
  return new DomainError(
    'idempotency_key_reused',
    'This Idempotency-Key was used for another model, body, options or call within the last 24 hours. Use a new key.',
  );
}

function orThrow(accepted: Accepted | DomainError): Accepted {
  if (accepted instanceof DomainError) throw accepted;
  return accepted;
}

function contextOf({ options }: NewRequest): TraceContext | undefined {
  const { traceparent, tracestate } = options ?? {};
  return traceparent === undefined ? undefined : { traceparent, tracestate };
}
