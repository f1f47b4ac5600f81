import { applyDecorators } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { ApiProblems } from '../../http/openapi/operations.js';
import { exampleId } from '../../http/openapi/responses.js';
import { DrainedNodeDto } from '../dto/node-drain.dto.js';
import { ApiReason, reasonProblems } from './reason.js';

const ApiNodeId = (): MethodDecorator =>
  ApiParam({
    name: 'node_id',
    description: 'The id of the node.',
    schema: { type: 'string', format: 'uuid', example: exampleId },
  });

export const ApiDrainNode = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Drain a node',
      description:
        'The node starts no more runs, its current runs finish, and its slots go to other nodes. It still serves ' +
        'calls. A restarted process is a new node, which is not drained.',
    }),
    ApiNodeId(),
    ApiReason(),
    ApiOkResponse({ description: 'The drained node.', type: DrainedNodeDto }),
    ApiProblems(...reasonProblems, 'unknown_id'),
  );

export const ApiUndrainNode = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Let a drained node run requests again',
      description: 'The node gets its share of the slots again.',
    }),
    ApiNodeId(),
    ApiReason(),
    ApiOkResponse({ description: 'The node.', type: DrainedNodeDto }),
    ApiProblems(...reasonProblems, 'unknown_id'),
  );
