import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { ApiProblems } from '../../http/openapi/operations.js';
import { headerReferences } from '../../http/openapi/responses.js';
import { AuditEntryDto, AuditPageDto } from './audit.dto.js';

export const ApiListAudit = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'List what was audited',
      description:
        'The newest first. With `Accept: application/x-ndjson` all that the filters find is sent, an entry a line; that is ' +
        'itself audited.',
    }),
    ApiExtraModels(AuditEntryDto, AuditPageDto),
    ApiOkResponse({
      description: 'A page, or all.',
      headers: headerReferences(['Link']),
      content: {
        'application/json': { schema: { $ref: '#/components/schemas/AuditPage' } },
        'application/x-ndjson': { schema: { type: 'string' } },
      },
    }),
    ApiProblems('invalid_query'),
  );
