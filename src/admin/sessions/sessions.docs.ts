import { ApiNoContentResponse, ApiOkResponse, ApiResponse } from '@nestjs/swagger';
import { ApiCall, ApiProblems } from '../../http/openapi/operations.js';
import { ApiList } from '../../http/openapi/page.dto.js';
import { AdminSessionPageDto, SessionDto } from './sessions.dto.js';

export const ApiReadSession = ApiCall(
  'Read the current session',
  'The key of the call, brought by a session or directly, and the other ways to sign in. The call needs no key.',
  ApiOkResponse({ description: 'The key that is signed in, and the ways to sign in.', type: SessionDto }),
  ApiProblems('bad_request'),
);

export const ApiSignIn = ApiCall(
  'Sign in',
  'Sets a cookie (HttpOnly, SameSite=Strict) that stands for the key for 12 hours, wherever a key is ' +
    'accepted. The key needs one of the scopes `observe`, `payloads` and `admin`. A call with the cookie ' +
    'that changes something needs `Content-Type: application/json` and must come from a page of this origin.',
  ApiOkResponse({ description: 'The session has begun.', type: SessionDto }),
  ApiProblems('sign_in_refused', 'caller_busy'),
);

export const ApiSignOut = ApiCall(
  'Sign out',
  'Ends the session of the call, at once on the node that answers, within 5 seconds on the others.',
  ApiNoContentResponse({ description: 'The session has ended.' }),
);

export const ApiBeginOidc = ApiCall(
  'Sign in by OpenID Connect',
  'Redirects a browser to the provider of `OIDC_ISSUER`.',
  ApiResponse({ status: 302, description: 'A redirect to the provider.' }),
  ApiProblems('bad_request', 'unknown_id'),
);

export const ApiEndOidc = ApiCall(
  'Come back from the provider',
  'The provider redirects the browser here. If the claims allow it, the browser is signed in and ' +
    'redirected to the console. If not, `#sign-in=refused` or `#sign-in=failed` is appended.',
  ApiResponse({ status: 302, description: 'A redirect to the console.' }),
  ApiProblems('bad_request', 'unknown_id'),
);

export const ApiListSessions = ApiList(
  'List the sessions',
  'Active sessions, newest first.',
  AdminSessionPageDto,
);

export const ApiEndOther = ApiCall(
  'End a session',
  'The session ends at once on the node that answers, within 5 seconds on the others.',
  ApiNoContentResponse({ description: 'The session has ended.' }),
  ApiProblems('unknown_id'),
);
