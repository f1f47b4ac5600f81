import { applyDecorators } from '@nestjs/common';
import {
  ApiBody,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiResponse,
} from '@nestjs/swagger';
import { ApiProblems } from '../../http/openapi/operations.js';
import { exampleId, headerReferences } from '../../http/openapi/responses.js';
import { SessionDto, SignInDto } from '../dto/session.dto.js';
import { AdminSessionPageDto } from '../dto/sessions.dto.js';
import { ApiReason, reasonProblems } from './reason.js';

export const ApiReadSession = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Read who is signed in',
      description: 'By a session or a key; and how one can sign in. Needs neither.',
    }),
    ApiOkResponse({ description: 'Who it is.', type: SessionDto }),
    ApiProblems('bad_request'),
  );

export const ApiSignIn = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Sign in',
      description:
        'Sets a cookie (HttpOnly, SameSite=Strict) that stands for the key for 12 hours, wherever a key is taken. The ' +
        'key needs one of the scopes `observe`, `payloads`, `admin`. Signed in by a cookie, calls that change something ' +
        'need `Content-Type: application/json` and to come from a page of this origin.',
    }),
    ApiBody({
      type: SignInDto,
      required: true,
      examples: { key: { value: { key: 'ns_…' } }, link: { value: { link: '…' } } },
    }),
    ApiOkResponse({ description: 'Signed in.', type: SessionDto }),
    ApiProblems(
      ...(['bad_request', 'invalid_json', 'body_too_large', 'unsupported_encoding'] as const),
      ...(['sign_in_refused', 'caller_busy'] as const),
    ),
  );

export const ApiSignOut = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Sign out',
      description:
        'Ends the session of the call, on the node that answers at once, on others within 5 seconds.',
    }),
    ApiReason(),
    ApiNoContentResponse({ description: 'It has ended.' }),
    ApiProblems(...reasonProblems),
  );

export const ApiBeginOidc = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Sign in by OpenID Connect',
      description: 'Sends a browser to the provider of `OIDC_ISSUER`.',
    }),
    ApiResponse({ status: 302, description: 'To the provider.' }),
    ApiProblems('bad_request', 'unknown_id'),
  );

export const ApiEndOidc = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Come back from the provider',
      description:
        'Where the provider sends the browser back to. Signs in where the claims allow it, and leads to the console; ' +
        'where they do not, `#sign-in=refused` or `#sign-in=failed` is appended.',
    }),
    ApiResponse({ status: 302, description: 'To the console.' }),
    ApiProblems('bad_request', 'unknown_id'),
  );

export const ApiListSessions = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({ summary: 'List the sessions', description: 'Those that go on, the newest first.' }),
    ApiOkResponse({ description: 'A page.', type: AdminSessionPageDto, headers: headerReferences(['Link']) }),
    ApiProblems('invalid_query'),
  );

export const ApiEndOther = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'End a session',
      description: 'On the node that answers at once, on others within 5 seconds.',
    }),
    ApiParam({
      name: 'session_id',
      description: 'The id of the session.',
      schema: { type: 'string', format: 'uuid', example: exampleId },
    }),
    ApiReason(),
    ApiNoContentResponse({ description: 'It has ended.' }),
    ApiProblems(...reasonProblems, 'unknown_id'),
  );
