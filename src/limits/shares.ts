import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { v7 } from 'uuid';
import { NotifyChannel } from '../database/notify-channel.js';
import { RepeatedLines } from '../tools/repeated-lines.js';
import type { BudgetKey } from './budget.js';
import { ShareDatabase } from './share-database.js';
import { type Hint, type KeeperHost, ShareKeeper } from './share-keeper.js';

const topic = 'limits';
/** A message names at most this many budgets, because it has to fit into a notification. */
const maxKeysInMessage = 30;
/** Hints that come within this many milliseconds are sent together. */
const collectMs = 10;

type Hints = Record<Hint, BudgetKey[]>;

/**
 * This process's shares of its callers' limits. It starts and stops the keeper, and passes its hints to and from other
 * nodes.
 */
@Injectable()
export class Shares implements KeeperHost, OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly keeper: ShareKeeper;
  private readonly logger = new Logger(Shares.name);
  private readonly id = v7();
  private readonly outbox: Hints = { asked: [], gave: [] };
  private sendTimer: NodeJS.Timeout | undefined;
  private isFailing = false;
  private readonly lines = new RepeatedLines();

  constructor(
    database: ShareDatabase,
    private readonly channel: NotifyChannel,
  ) {
    this.keeper = new ShareKeeper(database, this);
  }

  async onApplicationBootstrap(): Promise<void> {
    this.channel.listen(topic, (body) => {
      const { from, asked, gave } = JSON.parse(body) as Hints & { from: string };
      if (from === this.id) return;
      if (asked.length > 0) this.keeper.onAsked(asked);
      if (gave.length > 0) this.keeper.onGiven(gave);
    });
    await this.keeper.start();
  }

  /** Runs when no more calls come. Shares that cannot be given back without a database count as used for a window. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.keeper.stop().catch((error: unknown) => this.failed(error));
  }

  now(): number {
    return performance.now();
  }

  after(ms: number, work: () => void): () => void {
    if (ms === 0) {
      const immediate = setImmediate(work);
      return () => clearImmediate(immediate);
    }
    const timer = setTimeout(work, ms).unref();
    return () => clearTimeout(timer);
  }

  hint(kind: Hint, keys: readonly BudgetKey[]): void {
    this.outbox[kind].push(...keys);
    this.sendTimer ??= setTimeout(() => this.send(), collectMs).unref();
  }

  failed(error: unknown): void {
    if (!this.isFailing)
      this.logger.warn({ err: error }, 'the use of rate limits cannot be written, so calls are refused');
    this.isFailing = true;
  }

  worked(): void {
    this.isFailing = false;
  }

  crowded(): void {
    this.lines.add('crowd', (times) =>
      this.logger.warn(
        `too many addresses call without a key: new ones share limits with their networks (${times} calls). If they are ` +
          'invented, set TRUST_PROXY to the number of proxies in front of the service.',
      ),
    );
  }

  private send(): void {
    this.sendTimer = undefined;
    const { asked, gave } = this.outbox;
    while (asked.length + gave.length > 0) {
      const hints: Hints = {
        asked: asked.splice(0, maxKeysInMessage),
        gave: gave.splice(0, maxKeysInMessage),
      };
      this.channel.sendNow(topic, JSON.stringify({ from: this.id, ...hints }));
    }
  }
}
