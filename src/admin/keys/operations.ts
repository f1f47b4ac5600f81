import { applyDecorators } from '@nestjs/common';
import {
  ApiBody,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
} from '@nestjs/swagger';
import { ApiProblems } from '../../http/openapi/operations.js';
import { exampleId, headerReferences } from '../../http/openapi/responses.js';
import { ApiReason, reasonProblems } from '../openapi/reason.js';
import { KeyChangesDto, NewKeyDto } from './key-body.js';
import { AdminKeyDto, AdminKeyPageDto, MadeKeyDto, WebhookSecretsDto } from './key.dto.js';

const ApiKeyId = (): MethodDecorator =>
  ApiParam({
    name: 'key_id',
    description: 'The id of the key.',
    schema: { type: 'string', format: 'uuid', example: exampleId },
  });

export const ApiListKeys = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'List the keys',
      description: 'The newest first, the revoked ones too, with their use and what is left of their limits.',
    }),
    ApiOkResponse({ description: 'A page.', type: AdminKeyPageDto, headers: headerReferences(['Link']) }),
    ApiProblems('invalid_query'),
  );

export const ApiReadKey = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({ summary: 'Read one key', description: 'As in the list.' }),
    ApiKeyId(),
    ApiOkResponse({ description: 'The key.', type: AdminKeyDto }),
    ApiProblems('bad_request', 'unknown_id'),
  );

export const ApiCreateKey = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({ summary: 'Make a key', description: 'The answer has its secret, this once.' }),
    ApiBody({ type: NewKeyDto, required: true }),
    ApiCreatedResponse({ description: 'The key.', type: MadeKeyDto }),
    ApiProblems(...reasonProblems),
  );

export const ApiUpdateKey = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Change a key',
      description:
        'Holds on the node that answers at once, on others within 5 seconds. Taking the scope `admin` from the last key ' +
        'that has it is 409 `conflict`, unless `allow_no_admin=true` says that it is meant.',
    }),
    ApiKeyId(),
    ApiBody({ type: KeyChangesDto, required: true }),
    ApiOkResponse({ description: 'The key as it is now.', type: AdminKeyDto }),
    ApiProblems(...reasonProblems, 'unknown_id', 'conflict'),
  );

export const ApiRevokeKey = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Revoke a key',
      description:
        'For good, and its sessions with it: on the node that answers at once, on others within 5 seconds. The last key ' +
        'with the scope `admin` is kept (409 `conflict`), unless `allow_no_admin=true` says that it is meant.',
    }),
    ApiKeyId(),
    ApiReason(),
    ApiNoContentResponse({ description: 'It is revoked.' }),
    ApiProblems(...reasonProblems, 'unknown_id', 'conflict'),
  );

export const ApiReadWebhookSecret = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Read the webhook secrets of a key',
      description: 'A key without one gets it now. That it was read is audited.',
    }),
    ApiKeyId(),
    ApiOkResponse({ description: 'The secrets.', type: WebhookSecretsDto }),
    ApiProblems('bad_request', 'invalid_query', 'unknown_id'),
  );

export const ApiRotateWebhookSecret = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Make a new webhook secret of a key',
      description:
        'For a day webhooks are signed with the old one too; other nodes sign with the new one within 5 s.',
    }),
    ApiKeyId(),
    ApiReason(),
    ApiOkResponse({ description: 'The secrets as they are now.', type: WebhookSecretsDto }),
    ApiProblems(...reasonProblems, 'unknown_id'),
  );
