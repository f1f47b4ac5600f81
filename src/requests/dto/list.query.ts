import { Option, optionsOf } from '../../http/input/option.js';
import { CursorOption, LimitOption } from '../../http/input/page.js';
import { oneOf, text, time } from '../../http/input/values.js';
import { isModelId } from '../../models/model.js';
import type { RequestFilter } from '../../queue/request-filter.js';
import type { Outcome, RequestState } from '../../queue/request-state.js';
import { tagList } from './submit.query.js';

const states = ['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED'] as const satisfies readonly RequestState[];
const outcomes = ['succeeded', 'failed', 'cancelled', 'expired'] as const satisfies readonly Outcome[];

/** The requests that a list or a bulk cancel applies to. */
export class FilterQuery {
  @Option('model_id', modelId, 'Only requests of this model.', 'demo/image/fractal')
  model_id: string | undefined;

  @Option('status', oneOf(states), 'Only requests in this state.', 'COMPLETED', { enum: [...states] })
  status: RequestState | undefined;

  @Option('outcome', oneOf(outcomes), 'Only requests with this outcome.', 'failed', { enum: [...outcomes] })
  outcome: Outcome | undefined;

  @Option(
    'tag',
    tagList,
    'Only requests with this tag, `key:value`. If given several times, only requests with all of the tags.',
    ['job:17'],
    {
      type: [String],
    },
  )
  tag: readonly string[] | undefined;

  @Option('created_after', time, 'RFC 3339: only requests submitted at this time or later.', undefined, {
    format: 'date-time',
  })
  created_after: number | undefined;

  @Option('created_before', time, 'RFC 3339: only requests submitted before this time.', undefined, {
    format: 'date-time',
  })
  created_before: number | undefined;
}

export class ListQuery extends FilterQuery {
  @LimitOption() limit: number | undefined;
  @CursorOption() cursor: string | undefined;
}

export const filterNames = ['model_id', 'status', 'outcome', 'tag', 'created_after', 'created_before'];

export interface ListOptions {
  /** undefined: no filter was given. */
  filter: RequestFilter | undefined;
  limit: number | undefined;
  cursor: string | undefined;
}

/** `plain`: the query of a call. Empty parameters count as absent. */
export function listOptions(plain: object): ListOptions {
  const { limit, cursor, ...filter } = optionsOf(ListQuery, plain, [...filterNames, 'limit', 'cursor']);
  return { filter: toFilter(filter), limit, cursor };
}

/** Reads a filter from a body. undefined: there is no filter. */
export function filterOptions(plain: object): RequestFilter | undefined {
  return toFilter(optionsOf(FilterQuery, plain, filterNames));
}

export function toFilter(query: FilterQuery): RequestFilter | undefined {
  const filter: RequestFilter = {
    modelId: query.model_id,
    state: query.status,
    outcome: query.outcome,
    tags: query.tag,
    createdAfterMs: query.created_after,
    createdBeforeMs: query.created_before,
  };
  return Object.values(filter).some((value) => value !== undefined) ? filter : undefined;
}

function modelId(value: unknown): string {
  const id = text(value);
  if (!isModelId(id)) throw new Error('expected the id of a model, such as demo/image/fractal');
  return id;
}
