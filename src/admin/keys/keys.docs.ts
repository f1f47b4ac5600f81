import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse } from '@nestjs/swagger';
import { ApiCall, ApiProblems } from '../../http/openapi/operations.js';
import { ApiList } from '../../http/openapi/page.dto.js';
import { WebhookSecretsDto } from '../../webhooks/dto/endpoints.dto.js';
import { AdminKeyDto, AdminKeyPageDto, MadeKeyDto } from './keys.dto.js';

export const ApiListKeys = ApiList(
  'List the keys',
  'Newest first, including revoked keys, with their use and what is left of their limits.',
  AdminKeyPageDto,
);

export const ApiReadKey = ApiCall(
  'Read one key',
  'The key has the same form as in the list.',
  ApiOkResponse({ description: 'The key.', type: AdminKeyDto }),
  ApiProblems('bad_request', 'unknown_id'),
);

export const ApiCreateKey = ApiCall(
  'Make a key',
  'The answer has the secret of the key. It is shown only once.',
  ApiCreatedResponse({ description: 'The new key.', type: MadeKeyDto }),
);

export const ApiUpdateKey = ApiCall(
  'Change a key',
  'The change applies at once on the node that answers, and within 5 seconds on the others. If it takes ' +
    'the scope `admin` from the last key that has it, the answer is 409 `conflict`, unless ' +
    '`allow_no_admin=true`.',
  ApiOkResponse({ description: 'The changed key.', type: AdminKeyDto }),
  ApiProblems('unknown_id', 'conflict'),
);

export const ApiRevokeKey = ApiCall(
  'Revoke a key',
  'The key and its sessions end for good, at once on the node that answers and within 5 seconds on the ' +
    'others. The last key with the scope `admin` is not revoked (409 `conflict`), unless ' +
    '`allow_no_admin=true`.',
  ApiNoContentResponse({ description: 'The key is revoked.' }),
  ApiProblems('unknown_id', 'conflict'),
);

export const ApiReadWebhookSecret = ApiCall(
  'Read the webhook secrets of a key',
  'If the key has no secret yet, it gets one now. The read is audited.',
  ApiOkResponse({ description: 'The webhook secrets.', type: WebhookSecretsDto }),
  ApiProblems('bad_request', 'invalid_query', 'unknown_id'),
);

export const ApiRotateWebhookSecret = ApiCall(
  'Make a new webhook secret of a key',
  'For a day webhooks are signed with the old secret as well. Other nodes sign with the new one within 5 ' +
    'seconds.',
  ApiOkResponse({ description: 'The secrets in use.', type: WebhookSecretsDto }),
  ApiProblems('unknown_id'),
);
