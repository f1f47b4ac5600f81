import { ApiExtraModels, ApiOkResponse, getSchemaPath } from '@nestjs/swagger';
import { ApiCall, ApiProblems } from '../../http/openapi/operations.js';
import { ApiList } from '../../http/openapi/page.dto.js';
import {
  OverviewAliveDto,
  OverviewChangesDto,
  OverviewDto,
  QueueEntryPageDto,
  ShareListDto,
} from './live.dto.js';

export const ApiOverview = ApiCall(
  'Follow all models and nodes',
  'Server-sent events. The first event has the type `overview`; its data is an `Overview`. After a change, ' +
    'at most twice a second, an event `changes` follows; apply its `OverviewChanges` to the state so far. If ' +
    'the set of models or nodes changes, a new `overview` replaces the state. Every 3 s, and at once when ' +
    'the database becomes unreachable or reachable again, an event `alive` follows; its `OverviewAlive` says ' +
    'how current the figures are. A client that receives nothing for 10 s has lost the connection. All ' +
    'clients share one source. The stream ends when the key is revoked or the session ends.',
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
  ApiProblems('missing_key', 'caller_busy', 'overloaded'),
);

export const ApiQueue = ApiList(
  'List the requests in a queue',
  'The running requests, then the waiting ones in the order in which they will start. Requests that are ' +
    'scheduled for a later time are not in the queue yet. With `Cache-Control: max-age=2` the first page may ' +
    'be 2 s old.',
  QueueEntryPageDto,
  'unknown_model',
);

export const ApiShares = ApiCall(
  'List the share of a model that each key gets',
  'The shares now and in the last hour, up to 10 s old. They count requests that were submitted in the ' +
    'last day.',
  ApiOkResponse({ description: 'The keys with requests that wait, run or ran.', type: ShareListDto }),
  ApiProblems('invalid_query', 'unknown_model'),
);
