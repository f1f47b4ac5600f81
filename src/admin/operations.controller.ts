import { Controller, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { validate as isUuid } from 'uuid';
import { AuditTrail } from '../audit/audit-trail.js';
import { type Caller, hasScope } from '../auth/caller.js';
import { CurrentCaller } from '../auth/current-caller.decorator.js';
import { Handles } from '../auth/handles.js';
import { DomainError } from '../errors/domain-error.js';
import { BodyReader } from '../http/body-reader.js';
import { ClientAddress } from '../http/client-address.js';
import { sendReply } from '../http/reply.js';
import { answerOf, Gate } from '../limits/gate.js';
import { Limited } from '../limits/limited.js';
import {
  type OperationAction,
  operationActions,
  type OperationRow,
  Operations,
  qualifying,
} from '../operations/operations.js';
import { assertKnown, assertNoOptions } from '../http/input/option.js';
import { isObject, parseObjectBody } from '../http/input/json-body.js';
import { CursorList, PageQuery } from './cursor-page.js';
import { anyFilterOptions } from './requests/any-list.query.js';
import { AnyRequestLists } from './requests/any-request-lists.js';
import * as docs from './requests/openapi.js';
import { ReasonBodies, reasonOf } from './requests/reason-bodies.js';

const example = '{"action": "cancel", "filter": {"tag": "job:17"}}';
const sampled = 3;
const list = new CursorList('/v1/admin/operations', PageQuery);

/** One action on all requests that a filter finds. */
@ApiTags('Admin')
@Controller('v1/admin/operations')
export class OperationsController {
  constructor(
    private readonly operations: Operations,
    private readonly lists: AnyRequestLists,
    private readonly handles: Handles,
    private readonly trail: AuditTrail,
    private readonly bodies: BodyReader,
    private readonly reasons: ReasonBodies,
    private readonly addresses: ClientAddress,
    private readonly gate: Gate,
  ) {}

  @Get()
  @docs.ApiOperations()
  @Limited('observe', { needsKey: true })
  async listOperations(
    @Query() query: PageQuery,
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const call = list.call(query);
    const rows = await this.operations.list({ before: call.after, limit: call.limit + 1 });
    const base = this.addresses.baseUrl(request);
    sendReply(
      response,
      list.reply(call, { rows, positionOf: ({ id }) => id, toView: viewFor(caller), base }),
    );
  }

  @Post()
  @HttpCode(202)
  @docs.ApiStartOperation()
  @Limited('admin', { needsKey: true })
  async startOperation(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ) {
    assertNoOptions(request.query);
    const { value } = parseObjectBody(await this.bodies.read(request, response), { example });
    assertKnown(Object.entries(value), ['action', 'filter', 'all', 'validate_only', 'reason']);
    const action = actionOf(value);
    const [all, isPreview] = [flagOf(value, 'all'), flagOf(value, 'validate_only')];
    const given = value['filter'] ?? {};
    if (!isObject(given)) throw wrong('filter', 'an object');
    const filter = anyFilterOptions(given, caller, this.handles);
    await this.gate.enterForIds(filter.ids?.length ?? 0, request, answerOf(response));
    if (!all && Object.values(filter).every((one) => one === undefined))
      throw new DomainError(
        'bad_request',
        'An empty filter matches every request. To confirm that, send "all": true.',
      );
    if (isPreview) {
      response.status(200);
      return this.lists.sample(caller, qualifying(action, filter), sampled);
    }
    const actor = this.trail.actorOf(request, caller);
    return viewFor(caller)(await this.operations.start(actor, { action, filter, reason: reasonOf(value) }));
  }

  @Get(':operation_id')
  @docs.ApiReadOperation()
  @Limited('observe', { needsKey: true })
  async readOperation(@Param('operation_id') id: string, @CurrentCaller() caller: Caller) {
    return viewFor(caller)(await this.operations.find(known(id)));
  }

  @Post(':operation_id/stop')
  @HttpCode(200)
  @docs.ApiStopOperation()
  @Limited('admin', { needsKey: true })
  async stopOperation(
    @Param('operation_id') id: string,
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ) {
    const reason = await this.reasons.read(request, response);
    const actor = this.trail.actorOf(request, caller);
    return viewFor(caller)(await this.operations.stop(actor, known(id), reason));
  }
}

function actionOf({ action }: Record<string, unknown>): OperationAction {
  const found = operationActions.find((one) => one === action);
  if (found !== undefined) return found;
  throw wrong('action', `one of ${operationActions.join(', ')}`);
}

function flagOf(body: Record<string, unknown>, name: string): boolean {
  const flag = body[name] ?? false;
  if (typeof flag === 'boolean') return flag;
  throw wrong(name, 'true or false');
}

const wrong = (name: string, expected: string): DomainError =>
  new DomainError('bad_request', `"${name}" takes ${expected}, as in ${example}.`);

function known(id: string): string {
  if (isUuid(id)) return id;
  throw new DomainError('unknown_operation', `There is no operation ${id}.`);
}

const viewFor = (caller: Caller) => (row: OperationRow) => toView(row, hasScope(caller, 'payloads'));

/** Leaves out the ids of the filter, which are many, and without `withIds` the digits of a prefix. */
function toView(row: OperationRow, withIds: boolean) {
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
      id_prefix: withIds ? idPrefix : undefined,
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
    created_at: row.createdAt,
    ended_at: row.endedAt,
  };
}
