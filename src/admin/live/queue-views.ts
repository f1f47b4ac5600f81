import { Injectable } from '@nestjs/common';
import { priorityOf } from '../../auth/caller.js';
import { DomainError } from '../../errors/domain-error.js';
import type { Page } from '../../http/input/page.js';
import { hint } from '../../tools/closest.js';
import type { Model } from '../../models/model.js';
import { ModelsService } from '../../models/models.service.js';
import type { TimeSpan } from '../../queue/estimates/estimate.js';
import { SharedReads } from '../../tools/shared-reads.js';
import { type Place, QueueLooks, type Standing } from '../../overview/queue-looks.js';
import type { KeyNameDto } from '../keys/key-name.dto.js';
import { toTime } from '../../tools/to-time.js';
import type {
  QueueEntryDto,
  QueueEntryPageDto,
  QueueQuery,
  ShareListDto,
  TimeIntervalDto,
} from './live.dto.js';

/** A result is kept this long for tabs that ask for the same at about the same time. */
const sharedMs = 10_000;

const placePattern = /^(-?\d{1,4}),(-?\d{1,16}),(\d{1,16})$/;

/** The queue and the shares of a model, in the form of the answers. */
@Injectable()
export class QueueViews {
  private readonly first = new SharedReads<[Standing[], Standing[]]>(sharedMs);

  constructor(
    private readonly models: ModelsService,
    private readonly looks: QueueLooks,
  ) {}

  /** `shown`: returns what the caller may see of a request's id. `ageMs`: how old a first page may be. */
  async list(
    page: Page<QueueQuery>,
    shown: (requestId: string) => string,
    ageMs: number,
  ): Promise<QueueEntryPageDto> {
    const model = this.modelOf(page.query.model);
    const after = page.after(toPlace);
    const isPaused = model.paused !== null;
    const look = (): Promise<[Standing[], Standing[]]> =>
      Promise.all([
        after === undefined ? this.looks.running(model.id) : [],
        this.looks.waiting(model.id, after, page.limit + 1, isPaused),
      ]);
    const [running, waiting] =
      after === undefined
        ? await this.first.get(`${page.limit} ${isPaused} ${model.id}`, ageMs, look)
        : await look();
    const view = (entry: Standing): QueueEntryDto => toEntry(entry, shown);
    const { data, next_cursor } = page.of(waiting, toPosition, view);
    return { data: [...running.map(view), ...data], next_cursor };
  }

  async shares(modelId: string): Promise<ShareListDto> {
    const { rows, sampled } = await this.looks.sharesOf(this.modelOf(modelId));
    const sum = (field: 'running' | 'runSecondsLastHour'): number =>
      rows.reduce((all, row) => all + row[field], 0);
    const [running, runSeconds] = [sum('running'), sum('runSecondsLastHour')];
    const part = (of: number, all: number): number | null =>
      all > 0 ? Math.round((of / all) * 1_000) / 1_000 : null;
    const data = rows.map((row) => ({
      key: toKey(row),
      weight: row.weight ?? 1,
      max_running: row.maxRunning,
      waiting: row.waiting,
      held: row.held,
      running: row.running,
      share_now: part(row.running, running),
      starts_last_hour: row.startsLastHour,
      run_seconds_last_hour: Math.round(row.runSecondsLastHour * 1_000) / 1_000,
      share_last_hour: part(row.runSecondsLastHour, runSeconds),
    }));
    return { data, next_cursor: null, sampled };
  }

  private modelOf(id: string): Model {
    const model = this.models.get(id);
    if (model !== undefined) return model;
    const ids = this.models.all().map((one) => one.id);
    throw new DomainError('unknown_model', `There is no such model here${hint(id, ids) || '.'}`);
  }
}

function toEntry(entry: Standing, shown: (requestId: string) => string): QueueEntryDto {
  const { requestId, state, position, priority, sinceMs, attempt, startedAtMs, node, notBeforeMs } = entry;
  const { estimate } = entry;
  return {
    request_id: shown(requestId),
    state,
    position,
    key: toKey(entry),
    priority: priorityOf(priority),
    attempt,
    node,
    since: toTime(sinceMs),
    started_at: toTime(startedAtMs),
    not_before: toTime(notBeforeMs),
    ...(estimate?.start && { estimated_start: toInterval(estimate.start) }),
  };
}

const toKey = ({ keyId: id, keyName }: { keyId: string; keyName: string | null }): KeyNameDto => ({
  id,
  name: keyName,
});

const toInterval = ({ fromMs, toMs }: TimeSpan): TimeIntervalDto => ({
  from: toTime(fromMs),
  to: toTime(toMs),
});

const toPosition = ({ priority, start, seq }: Standing): string => [priority, start, seq].join();

function toPlace(position: string): Place | undefined {
  const [, priority, start, seq] = placePattern.exec(position) ?? [];
  if (priority === undefined) return undefined;
  return { priority: Number(priority), start: Number(start), seq: Number(seq) };
}
