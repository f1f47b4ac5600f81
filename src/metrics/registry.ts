import { collectDefaultMetrics, Registry } from 'prom-client';

/** The metrics of one service. */
export const REGISTRY = Symbol('REGISTRY');

/** Models beyond this number share one series, `other`. */
export const maxModels = 200;

/** From a run of 10 ms to one of six hours. */
export const longBuckets = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 1_800, 3_600, 7_200, 21_600];
/** OpenTelemetry's buckets for calls. */
export const callBuckets = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
export const statementBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
export const byteBuckets = [256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];

let ofProcess: Registry | undefined;

/** Metrics of the process and of Node. They are collected from the first use on. */
export function processRegistry(): Registry {
  if (ofProcess !== undefined) return ofProcess;
  ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess });
  // Gauges with a counter's suffix, which promtool rejects. `nodejs_active_resources` has the same information.
  for (const things of ['handles', 'requests', 'resources'])
    ofProcess.removeSingleMetric(`nodejs_active_${things}_total`);
  return ofProcess;
}
