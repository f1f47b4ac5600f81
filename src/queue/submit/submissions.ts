import { Injectable } from '@nestjs/common';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Database } from '../../database/database.js';
import type { Pipeline } from '../../database/pipeline.js';
import type { Queries } from '../../database/statement.js';
import { Batcher, type BatcherOptions } from '../../tools/batcher.js';
import type { Submission } from '../queries/submission.js';
import { retry, type Retry } from '../queries/retry.js';
import { findHeld, keyName, type Known, type OnceSubmission, submitOnce } from '../queries/submit-once.js';
import { submit, type Submitted } from '../queries/submit.js';
import { FileUses, mayNameFiles } from '../file-uses.js';
import { Dispatcher } from '../runs/dispatcher.js';
import { WaitingIndex } from '../waiting/waiting-index.js';
import { type Accepted, acceptedOrThrow, type Idempotency, repeatedOf } from './accepted.js';
import { Backlog, type Coming, type Leave } from './backlog.js';
import { RequestIds } from './request-id.js';
import { howOf, type Placed, SubmissionWriter, type Written } from './submission-writer.js';

export type { Accepted } from './accepted.js';
export type { Retry } from '../queries/retry.js';
export type { SubmissionOptions } from '../queries/submission.js';

/** Inputs from this size on keep PostgreSQL busier than this process, so several of PostgreSQL's processes help. */
const largeBytes = 16 * 1024;

export type NewRequest = Omit<Submission, 'id' | 'virtualStart'> &
  Pick<Placed, 'ticks' | 'isBounded'> &
  Pick<Coming, 'bounds'>;

type Incoming = NewRequest & Submission;
type OnceIncoming = Incoming & OnceSubmission;
/** An error: it is unknown whether it was submitted before. */
type Once = Submitted | Known | Error;

/** Accepts submissions: once per idempotency key, started at once if there is room. Also retries completed requests. */
@Injectable()
export class Submissions {
  /** True: a request that never waits is being written. No position depends on it. */
  private startsImmediately = false;
  private readonly pipeline: Pipeline;
  private readonly small: Batcher<Incoming, Written<Submitted>>;
  private readonly large: Batcher<Incoming, Written<Submitted>>;
  /** Submissions of keys with a bound, which have a statement of their own. */
  private readonly held: Batcher<Incoming, Written<Submitted>>;
  /** The same for submissions with an idempotency key. */
  private readonly once: Record<'small' | 'large' | 'held', Batcher<OnceIncoming, Written<Once>>>;

  constructor(
    private readonly database: Database,
    private readonly writer: SubmissionWriter,
    private readonly dispatcher: Dispatcher,
    private readonly index: WaitingIndex,
    private readonly ids: RequestIds,
    private readonly files: FileUses,
    private readonly backlog: Backlog,
  ) {
    this.pipeline = database.pipeline();
    const weigh = ({ input }: Incoming): number => input.length;
    const options = { maxItems: 128, maxWeight: 512 * 1024, weigh, writers: 3 };
    const ofSmall = { ...options, maxWeight: 1024 * 1024, earlyItems: 16, itemsBehind: 8 };
    this.small = new Batcher((items) => this.submitAll(items, 'pipeline'), ofSmall);
    this.large = new Batcher((items) => this.submitAll(items, 'connection'), options);
    this.held = new Batcher((items) => this.submitAll(items, 'connection'), options);
    const once = (how: BatcherOptions<Incoming>) =>
      new Batcher((items: OnceIncoming[]) => this.submitAllOnce(items), how);
    this.once = { small: once(ofSmall), large: once(options), held: once(options) };
  }

  async submit(request: NewRequest): Promise<string> {
    const { bounds } = request;
    return this.write(request, bounds && (await this.backlog.enter(request, bounds)));
  }

  /** Like `submit`, but only once per idempotency key. Throws if the key stands for another request. */
  submitOnce(request: NewRequest, idempotency: Idempotency): Promise<Accepted> {
    return this.entered(request, idempotency, async () => {
      const { key, fingerprint } = idempotency;
      const submission = { ...this.incoming(request), idempotencyKey: key, fingerprint };
      if (mayNameFiles(submission.input)) await this.files.ofInputs([submission]);
      if (submission.isBounded) return this.once.held.add(submission);
      return (submission.input.length < largeBytes ? this.once.small : this.once.large).add(submission);
    });
  }

  /** Submits a completed request again; undefined: its input is deleted. Throws as `submitOnce` does. */
  retry(
    request: Pick<NewRequest, 'modelId' | 'keyId' | 'priority' | 'ticks' | 'isBounded' | 'bounds'>,
    terms: Omit<Retry, 'id' | 'priority' | 'virtualStart'>,
    accounting?: (queries: Queries, newId: string) => Promise<void>,
  ): Promise<Accepted | undefined> {
    return this.entered(request, terms.idempotency, () => {
      const item = { ...request, id: this.ids.next(), virtualStart: 0 };
      return this.writer.write(
        [item],
        () => this.retryOn(request.keyId, { ...terms, ...item }, howOf(item), accounting),
        (written) => [written],
      );
    });
  }

  /**
   * Calls `write` if the request is admitted. Finds what was submitted before, even if there is no room for another
   * submission.
   */
  private async entered<Result extends Once | undefined>(
    request: Coming,
    idempotency: Idempotency | undefined,
    write: () => Promise<Written<Result>>,
  ): Promise<Accepted | Extract<Result, undefined>> {
    let leave: Leave | undefined;
    try {
      if (request.bounds !== undefined) leave = await this.backlog.enter(request, request.bounds);
    } catch (error) {
      const key = idempotency?.key;
      const known = key && (await findHeld(this.database, request.keyId, [key])).get(key);
      if (!known) throw error;
      return acceptedOrThrow(known, idempotency?.fingerprint);
    }
    const { result, visibleAfter } = await write().finally(leave);
    await visibleAfter;
    if (result === undefined) return result as Extract<Result, undefined>;
    return acceptedOrThrow(result, idempotency?.fingerprint);
  }

  /** `accounting` runs in the commit of a new request, not for a repetition. */
  private retryOn(
    keyId: string,
    terms: Retry,
    how: ReturnType<typeof howOf>,
    accounting: ((queries: Queries, newId: string) => Promise<void>) | undefined,
  ): Promise<Submitted | Known | undefined> {
    if (accounting === undefined) return retry(this.database, keyId, terms, how);
    return this.database.transaction(async (query) => {
      const queries = { query };
      const result = await retry(queries, keyId, terms, how);
      if (result !== undefined && 'seq' in result) await accounting(queries, result.id);
      return result;
    });
  }

  /** True if nothing is being written that a submission could share a statement with. */
  private get isIdle(): boolean {
    const { once, writer, small, large } = this;
    const areIdle = small.isIdle && large.isIdle && once.small.isIdle && once.large.isIdle;
    return writer.isIdle && areIdle && !this.startsImmediately;
  }

  private async submitAll(items: Incoming[], path: 'pipeline' | 'connection'): Promise<Written<Submitted>[]> {
    const queries = path === 'pipeline' ? this.pipeline : this.database;
    const { result, visibleAfter } = await this.writer.write(
      items,
      () => submit(queries, items, howOf(items[0]!)),
      (written) => written,
      path,
    );
    return result.map((one) => ({ result: one, visibleAfter }));
  }

  /** Joins submissions of one API key with one idempotency key: the first one is the submission. */
  private async submitAllOnce(items: OnceIncoming[]): Promise<Written<Once>[]> {
    const firsts = new Map<string, OnceIncoming>();
    const firstOf = items.map((item) => {
      const name = keyName(item.keyId, item.idempotencyKey);
      const first = firsts.get(name) ?? item;
      firsts.set(name, first);
      return first;
    });
    const placed = [...firsts.values()];
    const { result, visibleAfter } = await this.writer.write(
      placed,
      () => submitOnce(this.database, placed, howOf(placed[0]!)),
      (written) => written,
    );
    const resultOf = new Map(placed.map((item, i) => [item, result[i]!]));
    return items.map((item, i) => {
      const first = firstOf[i]!;
      const own = resultOf.get(first)!;
      return { result: first === item ? own : repeatedOf(own, first.fingerprint), visibleAfter };
    });
  }

  private async write(request: NewRequest, leave: Leave | undefined): Promise<string> {
    const submission = this.incoming(request);
    const placing = this.place(submission);
    const placed = await (leave === undefined ? placing : placing.finally(leave));
    await placed?.visibleAfter;
    return submission.id;
  }

  /** undefined: it has started. */
  private async place(submission: Incoming): Promise<Written<Submitted> | undefined> {
    if (mayNameFiles(submission.input)) await this.files.ofInputs([submission]);
    const mayStart = submission.options?.notBefore === undefined && !submission.isBounded;
    const startsNow = mayStart && this.isIdle && this.dispatcher.hasRoomNow(submission.modelId);
    if (startsNow && (await this.startImmediately(submission))) return undefined;
    const batches = submission.input.length < largeBytes ? this.small : this.large;
    return (submission.isBounded ? this.held : batches).add(submission);
  }

  /** Returns false if other requests wait before it; then nothing was written. */
  private async startImmediately(submission: Submission): Promise<boolean> {
    // It waits for no other request, and takes no turn.
    submission.virtualStart = this.index.virtualTime(submission.modelId, submission.priority);
    this.startsImmediately = true;
    try {
      if (!(await this.dispatcher.submitAndStart(submission))) return false;
    } finally {
      this.startsImmediately = false;
    }
    // What starts its run is sent in this turn of the event loop, the caller's answer in the next.
    await nextTurn();
    return true;
  }

  private incoming(request: NewRequest): Incoming {
    return { ...request, id: this.ids.next(), virtualStart: 0 };
  }
}
