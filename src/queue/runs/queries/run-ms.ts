/**
 * SQL: how long a run took, for `inference_ms`, which is an `integer`. The run of a lost node may be found weeks later,
 * and the database's clock may have been set meanwhile.
 */
export const runMs = (run: string): string =>
  `greatest(0, least(2147483647, extract(epoch FROM ${run}.ended_at - ${run}.started_at) * 1000))`;
