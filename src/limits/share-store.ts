/** Submissions, all other calls and the items of a batch have separate limits. */
export const routeClasses = ['submit', 'other', 'batch'] as const;
export type RouteClass = (typeof routeClasses)[number];

/** Identifies what a limit counts for: a key or an address, a class of routes, and the limits themselves. */
export interface BudgetKey {
  subject: string;
  routeClass: RouteClass | '*';
  /**
   * The limits as in RATE_LIMIT_SUBMIT. Other limits are another budget, so nodes never add up shares of different
   * limits.
   */
  policy: string;
}

/** One number per window, the tightest window first. */
export type PerWindow = readonly number[];

export interface GrantRequest {
  key: BudgetKey;
  limits: PerWindow;
  windowsMs: PerWindow;
  /** The share that the node holds and keeps. */
  held: PerWindow;
  /** The use once the waiting calls are admitted, as far as the share allows. */
  used: PerWindow;
  /** The amount that the waiting calls need beyond the share. */
  needed: PerWindow;
  /** `needed` and some more for the calls to come. */
  wanted: PerWindow;
}

export interface Grant {
  /** The node's share from now on. It is committed. */
  shares: PerWindow;
  /** The part of the limit that no node holds. */
  unallocated: PerWindow;
  /** Less than needed was free. Other nodes that hold some were asked to give back. */
  isShort: boolean;
}

export interface GrantResult {
  /** False: the other nodes gave this holder up, and nothing is granted. */
  isKnown: boolean;
  grants: Grant[];
  /** Holders that are gone and that the request did not name. */
  strays: string[];
}

/** A budget's row as it is to be written: the share that the node keeps, and what it used of it. */
export interface ShareRow {
  key: BudgetKey;
  shares: PerWindow;
  used: PerWindow;
}

/** A holder of shares and the number of one of its statements. Each number is greater than the one before. */
export interface HolderBeat {
  id: string;
  beat: number;
}

/** A holder that admits no more, and the time in milliseconds for which that is known. */
export interface GoneHolder {
  id: string;
  forMs: number;
}

export interface WriteRequest {
  rows: readonly ShareRow[];
  forgotten: readonly BudgetKey[];
  /** Holders that were silent too long. They may not use their shares any more, unless they have beaten since. */
  silent: readonly HolderBeat[];
}

export interface WriteResult {
  /** False: the other nodes gave this holder up, with its shares. */
  isKnown: boolean;
  /** All other holders. */
  holders: HolderBeat[];
  /** Budgets of which another node wants a part. */
  asked: BudgetKey[];
}

export interface Registration {
  holders: HolderBeat[];
  /** Holders that are gone but still have rows. */
  gone: string[];
}

/** Whether a holder has a default share. */
export interface DefaultGrant {
  isGranted: boolean;
  /** Holders that are gone but still have rows. */
  gone: string[];
}

/** The database's side of the shares. */
export interface ShareStore {
  register(holder: string): Promise<Registration>;
  /** Gives the holder a default share if no other node holds or held anything. */
  acquireDefault(holder: string): Promise<DefaultGrant>;
  /**
   * Resolves when the grants are durable. Several may be under way, but none for a budget that another statement has.
   */
  grant(holder: string, requests: readonly GrantRequest[], gone: readonly GoneHolder[]): Promise<GrantResult>;
  /** Does nothing if the holder's row is gone or has a number that is not smaller. */
  write(holder: HolderBeat, request: WriteRequest): Promise<WriteResult>;
  /** Deletes the rows of holders that have been gone for longer than any window. */
  prune(holders: readonly string[]): Promise<void>;
  /** Ends a holder that admits no more. Its rows show what it used. */
  leave(holder: string, rows: readonly ShareRow[]): Promise<void>;
}

/** The events that a keeper reports to its node. */
export interface KeeperListener {
  /** This node is short of these budgets. A hint to the other nodes that may be lost, as is `gave`. */
  asked(keys: readonly BudgetKey[]): void;
  /** This node gave back something of these budgets. */
  gave(keys: readonly BudgetKey[]): void;
  failed?(error: unknown): void;
  /** Too many addresses call, so a new one shares a budget with its network. */
  crowded?(): void;
  /** A round of writes is done. */
  worked?(): void;
}

/** The process's monotonic clock and timers; a simulation has its own. */
export interface Timing {
  now(): number;
  /** Returns a function that cancels the timer. */
  after(ms: number, work: () => void): () => void;
}
