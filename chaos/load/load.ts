import type { Cluster } from '../cluster/cluster.js';
import { isOfWorkers } from '../cluster/models-file.js';
import { sleep, within } from '../clock.js';
import type { WebhookReceiver } from '../model/webhook-receiver.js';
import type { Random } from '../random.js';
import { ApiClient, isConclusive } from './api-client.js';
import { Follower } from './follower.js';
import type { Entry, Ledger } from './ledger.js';
import { LimitedCaller } from './limited-caller.js';
import { OutputFollower } from './output-follower.js';
import { Poller } from './poller.js';
import { Submitter } from './submitter.js';

/**
 * Submissions a second: below the capacity of the models, so that a queue that grows during a fault drains after it.
 */
const submissionsPerSecond = 12;
/** Models that emit their output as deltas. */
const sayers = ['chaos/tokens', 'chaos/story'];

/** Callers of every kind, until they are stopped. */
export class Load {
  readonly client: ApiClient;
  readonly submitter: Submitter;
  readonly poller: Poller;
  private readonly follower: Follower;
  private readonly outputFollower: OutputFollower;
  private readonly limited: LimitedCaller;
  private readonly random: Random;
  private running = true;
  private watching = true;
  private readonly active = new Set<{ readonly what: string }>();

  constructor(
    private readonly cluster: Cluster,
    private readonly ledger: Ledger,
    receiver: WebhookReceiver,
    random: Random,
  ) {
    this.random = random.fork('load');
    this.client = new ApiClient(ledger);
    this.submitter = new Submitter(cluster, this.client, ledger, receiver, random.fork('submit'));
    this.poller = new Poller(cluster, this.client, ledger, random.fork('poll'));
    this.follower = new Follower(cluster, ledger, random.fork('follow'));
    this.outputFollower = new OutputFollower(cluster, ledger, random.fork('follow outputs'));
    this.limited = new LimitedCaller(cluster, this.client, this.submitter, random.fork('limited'));
  }

  start(): void {
    this.track('submits', this.submitSteadily());
    this.track(
      'exceeds limits',
      this.limited.run(() => this.running),
    );
  }

  /** Submits no new requests; callers go on watching those that they have. */
  stopSubmitting(): void {
    this.running = false;
  }

  /** Waits until every caller has seen the end of its request. Returns what the callers that have not are doing. */
  async finish(ms: number): Promise<string[]> {
    await within(ms, () => this.active.size === 0);
    this.watching = false;
    return [...this.active].map(({ what }) => what);
  }

  /** Follows, polls or forgets a request, and perhaps cancels it. */
  watch(entry: Entry): void {
    const keepOn = (): boolean => this.watching;
    if (this.random.chance(0.3)) this.track(`follows ${entry.id}`, this.follower.follow(entry, keepOn));
    else if (this.random.chance(0.8)) this.track(`polls ${entry.id}`, this.poller.poll(entry, keepOn));
    if (sayers.includes(entry.modelId) && this.random.chance(0.7)) {
      this.track(`follows the output of ${entry.id}`, this.outputFollower.follow(entry, keepOn));
    }
    if (this.random.chance(0.12)) this.track(`cancels ${entry.id}`, this.cancelLater(entry));
  }

  private async submitSteadily(): Promise<void> {
    while (this.running) {
      this.track('submits one', this.submitAndWatch());
      await sleep((-Math.log(1 - this.random.next()) * 1_000) / submissionsPerSecond);
    }
  }

  /** Submits and watches one request, of a drawn model if none is named. */
  async submitAndWatch(modelId?: string): Promise<void> {
    const entry = await this.submitter.submitOne(modelId);
    if (entry !== undefined) this.watch(entry);
  }

  private async cancelLater(entry: Entry): Promise<void> {
    // A run of a worker may take long.
    await sleep(this.random.between(0, isOfWorkers(entry.modelId) ? 4_000 : 1_500));
    const node = this.random.pick(this.cluster.apiNodes);
    const answer = await this.client.call(entry.caller, node, 'PUT', `requests/${entry.id}/cancel`);
    if (!isConclusive(answer)) return;
    const { status: said, cancel_status } = answer.body as {
      status?: Entry['cancel'];
      cancel_status?: Entry['cancel'];
    };
    const status = cancel_status ?? said;
    const sound =
      (answer.status === 200 && status === 'CANCELLED') ||
      (answer.status === 202 && status === 'CANCELLATION_REQUESTED') ||
      (answer.status === 400 && status === 'ALREADY_COMPLETED');
    if (sound) Object.assign(entry, { cancel: status, cancelledAt: answer.answeredAt });
    else this.ledger.violate('a cancel is answered by the table', `${answer.status} ${status}`, entry.id);
  }

  /** A failure of the work is one of the harness. */
  track(what: string, work: Promise<unknown>): void {
    const activity = { what };
    this.active.add(activity);
    work
      .catch((error: Error) => this.ledger.violate('the harness works', error.stack ?? error.message))
      .finally(() => this.active.delete(activity));
  }
}
