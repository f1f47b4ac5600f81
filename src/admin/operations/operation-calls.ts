import { Injectable } from '@nestjs/common';
import type { Actor } from '../../audit/actor.js';
import { type Caller, hasScope } from '../../auth/caller.js';
import { Handles } from '../../auth/handles.js';
import { DomainError } from '../../errors/domain-error.js';
import type { Page, PageQuery } from '../../http/input/page.js';
import { type OperationRow, Operations, qualifying } from '../../operations/operations.js';
import { toOperatorFilter } from '../requests/list.query.js';
import { AdminRequestLists } from '../requests/request-lists.js';
import type { OperationDto, OperationPageDto, StartOperationDto } from './operations.dto.js';

const sampled = 3;

/** Starts, shows and stops operations for operators. */
@Injectable()
export class OperationCalls {
  constructor(
    private readonly operations: Operations,
    private readonly lists: AdminRequestLists,
    private readonly handles: Handles,
  ) {}

  async list(caller: Caller, page: Page<PageQuery>): Promise<OperationPageDto> {
    const rows = await this.operations.list({ before: page.afterId, limit: page.limit + 1 });
    return page.of(
      rows,
      ({ id }) => id,
      (row) => toOperation(caller, row),
    );
  }

  async start(
    caller: Caller,
    actor: Actor,
    { action, filter: given, all, validate_only: isPreview, reason }: StartOperationDto,
  ): Promise<object> {
    const filter = toOperatorFilter(given ?? {}, caller, this.handles);
    if (all !== true && Object.values(filter).every((one) => one === undefined))
      throw new DomainError(
        'bad_request',
        'An empty filter matches every request. To confirm that, send "all": true.',
      );
    if (isPreview === true) return this.lists.sample(caller, qualifying(action, filter), sampled);
    return toOperation(caller, await this.operations.start(actor, { action, filter, reason }));
  }

  async read(caller: Caller, id: string): Promise<OperationDto> {
    return toOperation(caller, await this.operations.find(id));
  }

  async stop(caller: Caller, actor: Actor, id: string, reason: string | undefined): Promise<OperationDto> {
    return toOperation(caller, await this.operations.stop(actor, id, reason));
  }
}

/** Leaves out the ids of the filter, which are many, and without `payloads` the digits of a prefix. */
function toOperation(caller: Caller, row: OperationRow): OperationDto {
  const { modelId, state, outcome, tags, keyId, code, node, ids, idPrefix, createdAfterMs, createdBeforeMs } =
    row.filter;
  const time = (ms: number | undefined): string | undefined =>
    ms === undefined ? undefined : new Date(ms).toISOString();
  return {
    id: row.id,
    action: row.action,
    state: row.state,
    filter: {
      model_id: modelId,
      status: state,
      outcome,
      tag: tags,
      key_id: keyId,
      code,
      node,
      ids: ids?.length,
      id_prefix: hasScope(caller, 'payloads') ? idPrefix : undefined,
      created_after: time(createdAfterMs),
      created_before: time(createdBeforeMs),
    },
    total: row.total,
    done: row.done,
    skipped: row.skipped,
    failed: row.failed,
    last_error: row.lastError,
    reason: row.reason,
    by: row.actorName,
    created_at: row.createdAt.toISOString(),
    ended_at: row.endedAt?.toISOString() ?? null,
  };
}
