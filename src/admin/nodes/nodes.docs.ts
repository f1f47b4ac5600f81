import { ApiOkResponse } from '@nestjs/swagger';
import { ApiCall, ApiProblems } from '../../http/openapi/operations.js';
import { AdminNodeListDto } from '../../overview/dto/nodes.dto.js';
import { DrainedNodeDto } from './nodes.dto.js';

export const ApiNodes = ApiCall(
  'List the processes of the cluster',
  'The state of each node, its runs, and the models that it cannot reach; up to 1 s old. A lost node is ' +
    'listed for an hour with the number of its runs; a stopped node is not listed.',
  ApiOkResponse({ description: 'All nodes.', type: AdminNodeListDto }),
  ApiProblems('missing_key'),
);

export const ApiDrainNode = ApiCall(
  'Drain a node',
  'The node starts no more runs, its current runs finish, and its slots go to other nodes. It still serves ' +
    'calls. A restarted process is a new node, which is not drained.',
  ApiOkResponse({ description: 'The drained node.', type: DrainedNodeDto }),
  ApiProblems('unknown_id'),
);

export const ApiUndrainNode = ApiCall(
  'Let a drained node run requests again',
  'The node gets its share of the slots again.',
  ApiOkResponse({ description: 'The node.', type: DrainedNodeDto }),
  ApiProblems('unknown_id'),
);
