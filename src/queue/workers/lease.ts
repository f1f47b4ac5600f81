export type { LeasedRun, LeaseName } from './queries/worker-leases.js';
export { firstLeaseMs, leaseMs, maxInlineBytes } from './queries/worker-leases.js';
