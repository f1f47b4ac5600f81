import { Option } from '../../http/input/option.js';
import { CursorOption, defaultLimit, LimitOption, type ListOptions } from '../../http/input/page.js';
import { oneOf, rule, text, time } from '../../tools/rules.js';
import { isModelId } from '../../models/model.js';
import type { RequestFilter } from '../../queue/reads/request-filter.js';
import type { Outcome, RequestState } from '../../queue/request-state.js';
import { tags } from '../../queue/submit/tags.js';

const states = ['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED'] as const satisfies readonly RequestState[];
const outcomes = ['succeeded', 'failed', 'cancelled', 'expired'] as const satisfies readonly Outcome[];

const modelId = rule(text.schema, (value) => {
  const id = text.read(value);
  if (!isModelId(id)) throw new Error('expected the id of a model, such as demo/image/fractal');
  return id;
});

/** The requests that a list or a bulk cancel applies to. */
export class FilterQuery {
  @Option(modelId, 'Only requests of this model.', 'demo/image/fractal')
  model_id: string | undefined;

  @Option(oneOf(states), 'Only requests in this state.', 'COMPLETED')
  status: RequestState | undefined;

  @Option(oneOf(outcomes), 'Only requests with this outcome.', 'failed')
  outcome: Outcome | undefined;

  @Option(
    tags,
    'Only requests with this tag, `key:value`. If given several times, only requests with all of the tags.',
    ['job:17'],
  )
  tag: readonly string[] | undefined;

  @Option(time, 'RFC 3339: only requests submitted at this time or later.')
  created_after: number | undefined;

  @Option(time, 'RFC 3339: only requests submitted before this time.')
  created_before: number | undefined;
}

export class ListQuery extends FilterQuery implements ListOptions {
  @LimitOption() limit = defaultLimit;
  @CursorOption() cursor: string | undefined;
}

/** undefined: there is no filter. */
export function toFilter(query: Partial<FilterQuery>): RequestFilter | undefined {
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
