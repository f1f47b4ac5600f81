import type { Order } from './order-scenes.js';
import type { Workload } from './workloads.js';

export function judgeEstimates(
  product: Order & { ModelEstimates: unknown },
  workload: Workload,
  options: { seed: number; untilMs?: number },
): {
  looks: number;
  absent: number;
  /** As parts of the requests. */
  holds: number;
  holdsEnd: number;
  /** At the median. */
  error: number;
  plain: number;
};
