import { ApiAcceptedResponse, ApiOkResponse } from '@nestjs/swagger';
import { ApiCall, ApiProblems } from '../../http/openapi/operations.js';
import { ApiList } from '../../http/openapi/page.dto.js';
import { OperationDto, OperationPageDto, OperationPreviewDto } from './operations.dto.js';

export const ApiOperations = ApiList('List operations', 'Newest first.', OperationPageDto);

export const ApiStartOperation = ApiCall(
  'Cancel, retry or erase all that a filter finds',
  'The operation covers the requests that match at the time of the call; later submissions are not ' +
    'included. It first finds them step by step (`collecting`), and then acts on them in small commits that ' +
    'also count them. A request that no longer qualifies is skipped. The operation continues after a crash, ' +
    'and can be stopped.',
  ApiAcceptedResponse({ description: 'The operation has started.', type: OperationDto }),
  ApiOkResponse({
    description: 'With `validate_only`: the requests that the operation would cover.',
    type: OperationPreviewDto,
  }),
);

export const ApiReadOperation = ApiCall(
  'Read the progress of an operation',
  'The counts are exact.',
  ApiOkResponse({ description: 'The operation.', type: OperationDto }),
  ApiProblems('unknown_operation'),
);

export const ApiStopOperation = ApiCall(
  'Stop an operation',
  'The operation stops after the current step. Completed steps are not undone.',
  ApiOkResponse({ description: 'The operation.', type: OperationDto }),
  ApiProblems('unknown_operation'),
);
