import type { Order } from './order-scenes.js';
import type { Workload } from './workloads.js';

export function judgeEstimates(
  product: Order & { ModelEstimates: unknown },
  workload: Workload,
  options: { seed: number; untilMs?: number },
): {
  looks: number;
  absent: number;
  /** A fraction of the requests. */
  holds: number;
  holdsEnd: number;
  /** The median. */
  error: number;
  plain: number;
};
