import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { version } from '../../config/package.js';
import { completeOperations } from './operations.js';
import { AlreadyCompletedProblemDto, FieldErrorDto, ProblemDto } from './problem.dto.js';
import { headerComponents } from './responses.js';

/** The first thing a reader of /docs sees; Markdown. Its headings are the menu of the page. */
const description = `
A queue for work that takes longer than one wants to keep a connection open, such as AI model inference. Submit a
request for a model and get its id at once; poll or stream its status; fetch the response when it has completed. What
was accepted is on disk, and reaches exactly one outcome.

## Send your first request

Submit it. The answer has its id and its URLs.

\`\`\`sh
curl http://127.0.0.1:3000/v1/queue/demo/image/fractal \\
  -H "Authorization: Key $KEY" -d '{"prompt": "a spiral"}'
\`\`\`

Follow its status, by the \`request_id\` of that answer, until it is COMPLETED.

\`\`\`sh
curl -N "http://127.0.0.1:3000/v1/queue/requests/$ID/status/stream?logs=1"
\`\`\`

Fetch the response: what the model answered, as it is.

\`\`\`sh
curl http://127.0.0.1:3000/v1/queue/requests/$ID
\`\`\`

## Keys

Submitting needs an API key: \`Authorization: Key <key>\` or \`Authorization: Bearer <key>\`. A request's id cannot be
guessed, so by default whoever knows it may read and cancel the request without a key. A key that is sent must be
valid and must own the request. An installation with \`REQUEST_ACCESS=key\` demands it everywhere.

## Errors

Every error is \`application/problem+json\` (RFC 9457). Decide by its \`code\`, which is stable: [the list of all
codes](http://127.0.0.1:3000/docs/errors) says of each whether to try again, and what to do. Wait for \`Retry-After\` seconds where it is
sent, otherwise back off exponentially. Unknown routes answer 404 \`not_found\`, known ones under another method 405
\`method_not_allowed\` with \`Allow\`, and what is no readable HTTP 400, 408 or 431 \`bad_request\`.

## Rate limits

By default 10 submissions a second and 100 a minute; 100 and 1,800 of everything else. Both windows hold at once, per
key, or per address where no key is sent. Over either: 403 \`rate_limited\` (429 where \`RATE_LIMIT_STATUS\` says so).
What is left is in the fields \`X-RateLimit-…\` and \`RateLimit\` of every answer, and at \`GET /v1/key\`.

## Conventions

Every answer carries \`X-Request-Id\`. Times are ISO 8601 in UTC. A trailing slash makes no difference. Members that
are not described here may be added to any object at any time; clients are to ignore what they do not know.
`.trim();

const keyUsage = 'The word `Key`, a space, and the API key: `Key ns_…`. On this page the key alone will do.';

/** Builds the API as OpenAPI 3.1. It is the same for every installation, because nothing in it depends on settings. */
export function buildOpenApi(app: INestApplication): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Now Serving')
    .setDescription(description)
    .setVersion(version)
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer('/', 'The service that this description came from')
    .addTag('Requests', 'One request: submit it, read its status, cancel it, fetch its response.')
    .addTag('Collection', 'Many requests at once: lists, batches, statuses, bulk cancels; retry and erase.')
    .addTag('Files', 'What does not fit JSON: upload it, name it in an input, read it.')
    .addTag('Stream', 'The status of a request as it changes, as server-sent events.')
    .addTag('Webhooks', 'See what receivers were sent of completed requests, and send it again.')
    .addTag('Models', 'What may be called, what it takes, and how much it has to do.')
    .addTag('Key', 'What the key of the call may do.')
    .addTag(
      'Workers',
      'For programs that run requests: they claim runs, say what comes of them, and stay alive by beats.',
    )
    .addTag('Admin', 'For operators: see what the service does, and act on it.')
    .addTag('Health', 'For load balancers and orchestrators. Needs no key and counts against no limit.')
    .addApiKey({ type: 'apiKey', name: 'Authorization', description: keyUsage }, 'key')
    .addBearerAuth({
      type: 'http',
      bearerFormat: 'API key',
      description: 'The same API key as a bearer token.',
    })
    .build();
  const document = SwaggerModule.createDocument(app, builder, {
    extraModels: [ProblemDto, AlreadyCompletedProblemDto, FieldErrorDto],
    operationIdFactory: (_controller, method) => method,
    autoTagControllers: false,
  });
  document.components = {
    ...document.components,
    schemas: {
      ...document.components?.schemas,
      JsonValue: { title: 'JsonValue', description: 'Any JSON value.' },
    },
    headers: headerComponents,
  };
  completeOperations(document);
  // Express has to try the wildcard last, but a reader begins with it.
  const { '/v1/queue/{model_id}': submission, ...others } = document.paths;
  document.paths = { '/v1/queue/{model_id}': submission!, ...others };
  return document;
}
