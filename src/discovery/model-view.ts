import type { Model } from '../models/model.js';
import type { ModelLoad } from '../queue/reads/model-loads.js';
import type { ModelDto, TypicalTimeDto } from './dto/models.dto.js';

export function toModelView(
  { id, description, inputSchema, concurrency, group, reserve, paused }: Model,
  { waiting, running, oldestWaitMs, times, availability, nextProbeAtMs, workers }: ModelLoad,
): ModelDto {
  return {
    id,
    description,
    input_schema: inputSchema,
    concurrency,
    group: group && { id: group.id, concurrency: group.concurrency, stay_s: group.stayMs / 1_000 },
    reserve: { ...reserve },
    workers,
    waiting,
    running,
    load: waiting + running,
    oldest_wait_s: oldestWaitMs === null ? null : seconds(oldestWaitMs),
    run_time: toTypicalTime(times?.runMs),
    queue_time: toTypicalTime(times?.queueMs),
    availability: paused === null ? availability : 'paused',
    next_probe_at: paused === null && nextProbeAtMs !== null ? new Date(nextProbeAtMs).toISOString() : null,
  };
}

function toTypicalTime(percentiles: readonly [number, number] | null | undefined): TypicalTimeDto | null {
  if (percentiles === null || percentiles === undefined) return null;
  return { p50: seconds(percentiles[0]), p95: seconds(percentiles[1]) };
}

function seconds(ms: number): number {
  return Math.round(ms) / 1_000;
}
