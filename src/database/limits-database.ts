import { Database } from './database.js';

/** The most statements that the keeper of shares runs at once: grants in parallel, and writes one after another. */
export const limitsPoolSize = 4;

/**
 * A pool for deciding which calls are admitted, with its own connections, so that it does not queue behind the
 * statements of admitted calls. Otherwise a rush of calls would delay the node's sign of life and keep it from
 * admitting any more.
 */
export class LimitsDatabase extends Database {}
