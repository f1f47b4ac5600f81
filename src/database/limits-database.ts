import { Database } from './database.js';

/** As many as the keeper of shares has under way at once: its grants, and its writes one after the other. */
export const limitsPoolSize = 4;

/**
 * For what decides whether calls are let in: connections of their own, so that it does not queue behind what the calls do
 * that were. A rush of calls would keep a node from saying in time that it lives, and from letting in any more.
 */
export class LimitsDatabase extends Database {}
