import { ApiExtraModels, ApiOkResponse } from '@nestjs/swagger';
import { ApiCall, ApiProblems } from '../../http/openapi/operations.js';
import { headerReferences } from '../../http/openapi/responses.js';
import { AuditEntryDto, AuditPageDto } from './audit.dto.js';

export const ApiListAudit = ApiCall(
  'List the audit',
  'Newest first. With `Accept: application/x-ndjson` the answer has all entries that match the filters, ' +
    'one per line. That export is itself audited.',
  ApiExtraModels(AuditEntryDto, AuditPageDto),
  ApiOkResponse({
    description: 'A page, or with `Accept: application/x-ndjson` all entries.',
    headers: headerReferences(['Link']),
    content: {
      'application/json': { schema: { $ref: '#/components/schemas/AuditPage' } },
      'application/x-ndjson': { schema: { type: 'string' } },
    },
  }),
  ApiProblems('invalid_query'),
);
