/** Submissions are limited apart from all other calls, and the items of a batch apart from both. */
export const routeClasses = ['submit', 'other', 'batch'] as const;
export type RouteClass = (typeof routeClasses)[number];

/** What a limit counts for: a key or an address, a class of routes, and the limits themselves. */
export interface BudgetKey {
  subject: string;
  routeClass: RouteClass | '*';
  /** As in RATE_LIMIT_SUBMIT. Another limit is another budget, so nodes never add up shares of different limits. */
  policy: string;
}

/** One number a window, the tightest window first. */
export type PerWindow = readonly number[];

export interface GrantRequest {
  key: BudgetKey;
  limits: PerWindow;
  windowsMs: PerWindow;
  /** The share that the node holds, which stays. */
  held: PerWindow;
  /** Once what waits is admitted, as far as the share will go. */
  used: PerWindow;
  /** What waits, and so is short if it is not granted. */
  needed: PerWindow;
  /** `needed` and some more for the calls to come. */
  wanted: PerWindow;
}

export interface Grant {
  /** The node's share from now on: committed. */
  shares: PerWindow;
  /** Of the limit, what no node holds. */
  unallocated: PerWindow;
  /** Less than needed was to be had, and other nodes hold some: they were asked to give back. */
  isShort: boolean;
}

export interface GrantResult {
  /** False: the others gave this holder up, and nothing is granted. */
  isKnown: boolean;
  grants: Grant[];
  /** Holders that are gone and that the request did not name. */
  strays: string[];
}

/** A budget's row as it is to be: the share the node keeps, and what it used of it. */
export interface ShareRow {
  key: BudgetKey;
  shares: PerWindow;
  used: PerWindow;
}

/** A run of a node's share book, and the number of a statement of it: each is greater than the one before. */
export interface HolderBeat {
  id: string;
  beat: number;
}

/** A holder that admits no more, and for how long that is known. */
export interface GoneHolder {
  id: string;
  forMs: number;
}

export interface WriteRequest {
  rows: readonly ShareRow[];
  forgotten: readonly BudgetKey[];
  /** Holders that were silent too long: they may not use their shares from now on, unless they have beaten since. */
  silent: readonly HolderBeat[];
}

export interface WriteResult {
  /** False: the others gave this holder up, and its shares with it. */
  isKnown: boolean;
  /** All others. */
  holders: HolderBeat[];
  /** Budgets of which another node wants a part. */
  asked: BudgetKey[];
}

export interface Registration {
  holders: HolderBeat[];
  /** Gone already, but there are still shares to their names. */
  gone: string[];
}

/** Whether a holder has a default share. */
export interface DefaultGrant {
  isGranted: boolean;
  /** Holders that are gone, but there are still shares to their names. */
  gone: string[];
}

/** The database's side of the shares. */
export interface ShareStore {
  register(holder: string): Promise<Registration>;
  /** Gives the holder a default share if nobody else holds or held anything. */
  acquireDefault(holder: string): Promise<DefaultGrant>;
  /** Durable before it resolves. Several may be under way at once, but none for a budget that another statement has. */
  grant(holder: string, requests: readonly GrantRequest[], gone: readonly GoneHolder[]): Promise<GrantResult>;
  /** Does nothing if the holder's row has a number that is not smaller, or is gone. */
  write(holder: HolderBeat, request: WriteRequest): Promise<WriteResult>;
  /** Removes what holders left that have been gone for longer than any window. */
  prune(holders: readonly string[]): Promise<void>;
  /** The holder admits no more; its rows say what it used. */
  leave(holder: string, rows: readonly ShareRow[]): Promise<void>;
}

/** What a keeper reports to its node. */
export interface KeeperListener {
  /** This node is short of these. A hint to the others, which may be lost, as is `gave`. */
  asked(keys: readonly BudgetKey[]): void;
  /** This node gave something of these back. */
  gave(keys: readonly BudgetKey[]): void;
  failed?(error: unknown): void;
  /** So many addresses call that a new one shares a budget with its network. */
  crowded?(): void;
  /** A round of writes is done. */
  worked?(): void;
}

/** The process's monotonic clock and timers; a simulation has its own. */
export interface Timing {
  now(): number;
  /** Returns what undoes it. */
  after(ms: number, work: () => void): () => void;
}
