import { applyDecorators } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiExtension,
  ApiExtraModels,
  ApiNoContentResponse,
  ApiOkResponse,
  getSchemaPath,
} from '@nestjs/swagger';
import { ApiCall, ApiProblems } from '../../http/openapi/operations.js';
import { ApiList } from '../../http/openapi/page.dto.js';
import { EndpointDto, EndpointPageDto, MadeEndpointDto, WebhookSecretsDto } from '../dto/endpoints.dto.js';
import { webhookEvents, type WebhookEvent } from '../webhook-events.js';

const events = Object.entries<WebhookEvent>(webhookEvents).flatMap(([type, { described }]) =>
  described === undefined ? [] : [{ type, ...described }],
);

/** The bodies of all events, by their types, for the description of the API. */
const webhooks = Object.fromEntries(
  events.map(({ type, summary, dto }) => [
    type,
    {
      summary,
      description: 'See docs/webhooks.md for its headers and its signature.',
      schema: getSchemaPath(dto),
    },
  ]),
);

export const ApiAddEndpoint = applyDecorators(
  ApiExtraModels(...events.map(({ dto }) => dto)),
  ApiExtension('x-webhooks', webhooks),
  ApiCall(
    'Add a webhook endpoint',
    'The endpoint gets the events of all requests of the key from now on; other nodes know it within 5 seconds. A URL ' +
      'that the key already has is enabled again, with these events. The answer has the secret of the key, which the ' +
      'receiver needs. A key has at most 50 endpoints (409 `conflict`).',
    ApiCreatedResponse({ description: 'The endpoint.', type: MadeEndpointDto }),
    ApiProblems('conflict'),
  ),
);

export const ApiListEndpoints = ApiList(
  'List the webhook endpoints of the key',
  'Newest first, in pages, with those that are disabled.',
  EndpointPageDto,
  'bad_request',
);

export const ApiReadEndpoint = ApiCall(
  'Read a webhook endpoint',
  'The endpoint has the same form as in the list.',
  ApiOkResponse({ description: 'The endpoint.', type: EndpointDto }),
  ApiProblems('bad_request', 'invalid_query', 'unknown_id'),
);

export const ApiUpdateEndpoint = ApiCall(
  'Change a webhook endpoint',
  'The change applies to events from now on, on other nodes within 5 seconds. Pending deliveries are still sent to the ' +
    'URL that they were made for.',
  ApiOkResponse({ description: 'The changed endpoint.', type: EndpointDto }),
  ApiProblems('unknown_id', 'conflict'),
);

export const ApiDeleteEndpoint = ApiCall(
  'Delete a webhook endpoint',
  'It gets no new deliveries. Pending ones are still sent.',
  ApiNoContentResponse({ description: 'The endpoint is deleted.' }),
  ApiProblems('bad_request', 'unknown_id'),
);

export const ApiRotateSecret = ApiCall(
  'Make a new webhook secret',
  'Replaces the secret that signs the webhooks of the key. For a day webhooks are signed with the old secret as well. ' +
    'Other nodes sign with the new one within 5 seconds.',
  ApiOkResponse({ description: 'The secrets in use.', type: WebhookSecretsDto }),
  ApiProblems('bad_request', 'invalid_query'),
);
