import { Injectable, Logger } from '@nestjs/common';
import { Config } from '../config/config.js';
import { DomainError } from '../errors/domain-error.js';
import { descriptorLimit } from '../internals/descriptors.js';
import { RepeatedLines } from '../tools/repeated-lines.js';

/** A resource that callers make the service hold. A new one needs a line here and one in `resources`. */
export type Resource = 'bytes' | 'streams' | 'workerCalls';

export const allowedResources: readonly Resource[] = ['bytes', 'streams', 'workerCalls'];

interface Bounds {
  /** The most that one caller may hold. */
  caller: number;
  /** The most that all callers of this node may hold. */
  node: number;
}

const resources: Readonly<Record<Resource, { noun: string; advice: string }>> = {
  bytes: {
    noun: 'bytes of bodies and answers in memory',
    advice: 'Read the answers that are open, and send fewer large bodies at once.',
  },
  streams: {
    noun: 'open streams and long polls',
    advice: 'Close streams that are no longer read, or poll instead.',
  },
  workerCalls: {
    noun: 'open claims and beats of workers',
    advice: 'A worker needs only one open claim and one open beat.',
  },
};

/** Each takes a connection and its buffers, so one bound covers all that callers hold of both. */
const openConnections: readonly Resource[] = ['streams', 'workerCalls'];

/** A key may have 1,000 workers, each with one claim and one beat that wait, and as many again while they reconnect. */
const maxWorkerCallsOfCaller = 4_000;

const nothing = (): Record<Resource, number> => ({ bytes: 0, streams: 0, workerCalls: 0 });

/** Descriptors that are kept for the database, models, webhooks and files. */
const reservedDescriptors = 256;
/** All callers without a key together may hold this part of the node's bound. */
const addressPart = 1 / 2;

/** The amounts that one caller holds. */
export interface Holder {
  readonly name: string;
  readonly used: Record<Resource, number>;
}

/** An amount that is held until it is released. */
export class Hold {
  private isReleased = false;

  constructor(
    private readonly allowances: Allowances,
    private name: string,
    private readonly resource: Resource,
    private amount: number,
  ) {}

  /** Takes more. If there is no room, it throws and keeps what it has. */
  grow(more: number): void {
    if (this.isReleased || more <= 0) return;
    this.allowances.add(this.name, this.resource, more);
    this.amount += more;
  }

  /** Idempotent. */
  release(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    this.allowances.subtract(this.name, this.resource, this.amount);
  }
}

/**
 * Counts in memory what the callers of this node hold: bytes of bodies and answers, open streams and long polls. A
 * caller is named `key:<id>` or `address:<address or network>`. Rate limits count calls; allowances count what a call
 * costs while it lasts.
 */
@Injectable()
export class Allowances {
  readonly bounds: Readonly<Record<Resource, Bounds>>;
  readonly refused: Record<Resource, { caller: number; node: number }> = {
    bytes: { caller: 0, node: 0 },
    streams: { caller: 0, node: 0 },
    workerCalls: { caller: 0, node: 0 },
  };
  private readonly log = new Logger(Allowances.name);
  private readonly lines = new RepeatedLines();
  private readonly holders = new Map<string, Holder>();
  private readonly node = nothing();
  private readonly addresses = nothing();

  constructor(config: Config) {
    const descriptors = descriptorLimit();
    const nodeStreams = Math.min(config.maxNodeStreams, Math.max(16, descriptors - 2 * reservedDescriptors));
    if (nodeStreams < config.maxNodeStreams && nodeStreams < config.maxCallerStreams * 4) {
      this.log.warn(
        `This process may open only ${descriptors} files, so it serves at most ${nodeStreams} streams and ` +
          'long polls. Raise the limit with "ulimit -n" or LimitNOFILE.',
      );
    }
    this.bounds = {
      bytes: { caller: config.maxCallerBytes, node: config.maxNodeBytes },
      streams: { caller: config.maxCallerStreams, node: nodeStreams },
      workerCalls: { caller: maxWorkerCallsOfCaller, node: nodeStreams },
    };
  }

  /** Throws `caller_busy` or `overloaded` where there is no room. */
  take(name: string, resource: Resource, amount: number): Hold {
    this.add(name, resource, amount);
    return new Hold(this, name, resource, amount);
  }

  /** Counts what cannot be refused any more, such as the answer to a call that has taken effect. */
  charge(name: string, resource: Resource, amount: number): Hold {
    this.count(name, resource, amount);
    return new Hold(this, name, resource, amount);
  }

  /** Returns how much of a resource all callers hold. */
  inUse(resource: Resource): number {
    return this.node[resource];
  }

  usedBy(name: string): Readonly<Record<Resource, number>> {
    return this.holders.get(name)?.used ?? nothing();
  }

  /** Only for `Hold`; other code calls `take`. */
  add(name: string, resource: Resource, amount: number): void {
    const { caller: perCaller, node: perNode } = this.bounds[resource];
    const isAddress = name.startsWith('address:');
    const used = this.usedBy(name)[resource];
    // One call by itself is always served: other rules bound its size.
    if (used > 0 && used + amount > perCaller) throw this.callerIsBusy(name, resource, perCaller);
    const [all, most] = isAddress
      ? [sharedIn(this.addresses, resource), perNode * addressPart]
      : [sharedIn(this.node, resource), perNode];
    if (all > 0 && (all + amount > most || sharedIn(this.node, resource) + amount > perNode)) {
      throw this.nodeIsFull(name, resource);
    }
    this.count(name, resource, amount);
  }

  /** Only for `Hold`; other code calls `release`. */
  subtract(name: string, resource: Resource, amount: number): void {
    const holder = this.holders.get(name);
    if (holder === undefined) return;
    holder.used[resource] -= amount;
    this.node[resource] -= amount;
    if (name.startsWith('address:')) this.addresses[resource] -= amount;
    if (Object.values(holder.used).every((one) => one <= 0)) this.holders.delete(name);
  }

  /** Counts a refusal decided elsewhere, such as a connection that is closed because its client does not read. */
  noteRefusal(name: string, resource: Resource, by: 'caller' | 'node', what: string): void {
    this.refused[resource][by]++;
    this.lines.add(`${resource} ${by}`, (times) =>
      this.log.warn(
        `${what}; the last one was from ${name}${times > 1 ? `; ${times} times in the last minute` : ''}`,
      ),
    );
  }

  private count(name: string, resource: Resource, amount: number): void {
    let holder = this.holders.get(name);
    if (holder === undefined) this.holders.set(name, (holder = { name, used: nothing() }));
    holder.used[resource] += amount;
    this.node[resource] += amount;
    if (name.startsWith('address:')) this.addresses[resource] += amount;
  }

  private callerIsBusy(name: string, resource: Resource, most: number): DomainError {
    const { noun, advice } = resources[resource];
    this.noteRefusal(name, resource, 'caller', `a caller was refused: it has reached its limit of ${noun}`);
    return new DomainError('caller_busy', `A caller may have at most ${most} ${noun}. ${advice}`, {
      retryAfterSeconds: 1,
    });
  }

  private nodeIsFull(name: string, resource: Resource): DomainError {
    const { noun } = resources[resource];
    this.noteRefusal(
      name,
      resource,
      'node',
      `a caller was refused: all callers together have reached this node's limit of ${noun}`,
    );
    return new DomainError(
      'overloaded',
      `The service has reached its limit of ${noun}. Try again in a moment.`,
      {
        retryAfterSeconds: 2,
      },
    );
  }
}

/** Returns what is in use of all resources that count against the same bound of the node. */
function sharedIn(used: Readonly<Record<Resource, number>>, resource: Resource): number {
  if (!openConnections.includes(resource)) return used[resource];
  return openConnections.reduce((sum, one) => sum + used[one], 0);
}
