import { Injectable } from '@nestjs/common';
import { priorities } from '../../auth/caller.js';
import { DomainError } from '../../errors/domain-error.js';
import { hint } from '../../models/closest.js';
import type { Model } from '../../models/model.js';
import { ModelsService } from '../../models/models.service.js';
import type { TimeSpan } from '../../queue/estimates/estimate.js';
import { SharedReads } from '../../tools/shared-reads.js';
import { type Place, QueueLooks, type Standing } from '../../overview/queue-looks.js';
import { assertKnown } from '../../requests/dto/submit.query.js';
import type { KeyNameDto } from '../requests/dto.js';
import type { QueueEntryDto, QueueEntryPageDto, ShareListDto, TimeIntervalDto } from '../dto/live.dto.js';

const [defaultLimit, maxLimit] = [100, 500];
/** Kept for tabs that ask for the same at about the same time. */
const sharedMs = 10_000;

interface Cursor extends Place {
  modelId: string;
  limit: number;
}

/** The queue and the shares of a model, as they are answered. */
@Injectable()
export class QueueViews {
  private readonly first = new SharedReads<[Standing[], Standing[]]>(sharedMs);

  constructor(
    private readonly models: ModelsService,
    private readonly looks: QueueLooks,
  ) {}

  /** `shown`: of a request's id, what the caller may see. `ageMs`: so old may a first page be. */
  async page(query: object, shown: (requestId: string) => string, ageMs = 0): Promise<QueueEntryPageDto> {
    const { model, limit, after } = this.pageOf(query);
    const isPaused = model.paused !== null;
    const look = (): Promise<[Standing[], Standing[]]> =>
      Promise.all([
        after === undefined ? this.looks.running(model.id) : [],
        this.looks.waiting(model.id, after, limit + 1, isPaused),
      ]);
    const [running, rows] =
      after === undefined
        ? await this.first.get(`${limit} ${isPaused} ${model.id}`, ageMs, look)
        : await look();
    const waiting = rows.slice(0, limit);
    const last = rows.length > limit ? waiting.at(-1) : undefined;
    return {
      data: [...running, ...waiting].map((entry) => toEntry(entry, shown)),
      next_cursor: last === undefined ? null : toCursor(last, limit),
    };
  }

  async shares(query: object): Promise<ShareListDto> {
    const { model: id, ...others } = query as Record<string, unknown>;
    assertKnown(Object.entries(others), ['model']);
    const { rows, sampled } = await this.looks.sharesOf(this.modelOf(id));
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

  private pageOf(query: object): { model: Model; limit: number; after: Place | undefined } {
    const { model: id, limit, cursor, ...others } = query as Record<string, unknown>;
    assertKnown(Object.entries(others), ['model', 'limit', 'cursor']);
    if (cursor === undefined || cursor === '')
      return { model: this.modelOf(id), limit: limitOf(limit), after: undefined };
    const { modelId, limit: size, ...after } = fromCursor(cursor);
    return { model: this.modelOf(modelId), limit: size, after };
  }

  private modelOf(id: unknown): Model {
    if (typeof id !== 'string' || id === '')
      throw new DomainError('invalid_query', 'Say of which model, as in "?model=demo/image/fractal".');
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
    ...{ state, position, key: toKey(entry), priority: priorities[priority + 1]!, attempt, node },
    since: iso(sinceMs),
    started_at: startedAtMs === null ? null : iso(startedAtMs),
    not_before: notBeforeMs === null ? null : iso(notBeforeMs),
    ...(estimate?.start && { estimated_start: toInterval(estimate.start) }),
  };
}

const toKey = ({ keyId: id, keyName }: { keyId: string; keyName: string | null }): KeyNameDto => ({
  id,
  name: keyName,
});

const toInterval = ({ fromMs, toMs }: TimeSpan): TimeIntervalDto => ({ from: iso(fromMs), to: iso(toMs) });

const iso = (ms: number): string => new Date(ms).toISOString();

/** What is too much is the most that there is. */
function limitOf(limit: unknown): number {
  if (limit === undefined) return defaultLimit;
  if (typeof limit === 'string' && /^[1-9]\d{0,8}$/.test(limit)) return Math.min(Number(limit), maxLimit);
  throw new DomainError('invalid_query', `The option "limit" takes a whole number from 1 to ${maxLimit}.`);
}

const toCursor = ({ modelId, priority, start, seq }: Standing, limit: number): string =>
  Buffer.from(JSON.stringify([modelId, limit, priority, start, seq])).toString('base64url');

function fromCursor(cursor: unknown): Cursor {
  try {
    const [modelId, limit, ...place] = JSON.parse(Buffer.from(String(cursor), 'base64url').toString()) as [
      string,
      number,
      ...number[],
    ];
    const numbers = [limit, ...place];
    if (typeof modelId === 'string' && numbers.length === 4 && numbers.every(Number.isSafeInteger)) {
      const [priority, start, seq] = place as [number, number, number];
      if (Math.abs(priority) < 32_768 && limit > 0)
        return { modelId, limit: Math.min(limit, maxLimit), priority, start, seq };
    }
  } catch {
    // It is none of ours.
  }
  throw new DomainError(
    'invalid_query',
    'The option "cursor" is none that this list gave. Begin the list anew.',
  );
}
