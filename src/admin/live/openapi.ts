import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiOkResponse, ApiOperation, getSchemaPath } from '@nestjs/swagger';
import { ApiProblems } from '../../http/openapi/operations.js';
import { headerReferences } from '../../http/openapi/responses.js';
import { AdminNodeListDto } from '../../overview/dto/nodes.dto.js';
import {
  OverviewAliveDto,
  OverviewChangesDto,
  OverviewDto,
  QueueEntryPageDto,
  ShareListDto,
} from '../dto/live.dto.js';

export const ApiOverview = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'overview',
      summary: 'Follow how all models and nodes do',
      description:
        'Server-sent events: at once one of the type `overview`, an `Overview`; then, when something has changed, twice ' +
        'a second at most, one of the type `changes`, an `OverviewChanges`, to be applied to what was before. Where ' +
        'models or nodes have come or gone, a new `overview` takes its place. Every 3 s, and at once when the ' +
        'database goes away or comes back, one of the type `alive`, an `OverviewAlive`: it says as of when the figures ' +
        'are. A reader that hears nothing for 10 s has lost the connection. All who look share one source. It ends when ' +
        'the key is revoked or the session is over.',
    }),
    ApiExtraModels(OverviewDto, OverviewChangesDto, OverviewAliveDto),
    ApiOkResponse({
      description: 'The stream.',
      content: {
        'text/event-stream': {
          schema: {
            anyOf: [OverviewDto, OverviewChangesDto, OverviewAliveDto].map((type) => ({
              $ref: getSchemaPath(type),
            })),
          },
        },
      },
    }),
    ApiProblems('missing_key'),
  );

export const ApiQueue = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'adminQueue',
      summary: 'Who stands where in a queue',
      description:
        'What runs, then what waits, in the order in which it will be started. What is scheduled for a time to come is ' +
        'not in the queue yet. With `Cache-Control: max-age=2` the first page may be two seconds old.',
    }),
    ApiOkResponse({
      description: 'A page.',
      type: QueueEntryPageDto,
      headers: headerReferences(['Link']),
    }),
    ApiProblems('invalid_query', 'unknown_model'),
  );

export const ApiShares = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'adminShares',
      summary: 'Who gets how much of a model',
      description:
        'Now and in the last hour; up to 10 s old. It counts requests that were submitted in the last day.',
    }),
    ApiOkResponse({ description: 'The keys that wait, run, or ran.', type: ShareListDto }),
    ApiProblems('invalid_query', 'unknown_model'),
  );

export const ApiNodes = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'adminNodes',
      summary: 'The processes of the cluster',
      description:
        'How each is, what it runs, and what it cannot reach; up to a second old. One that was lost is listed for an hour, ' +
        'with how many runs it had; one that was stopped is not.',
    }),
    ApiOkResponse({ description: 'All nodes.', type: AdminNodeListDto }),
    ApiProblems('missing_key'),
  );
