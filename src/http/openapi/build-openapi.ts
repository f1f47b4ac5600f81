import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { version } from '../../config/package.js';
import { completeOperations } from './operations.js';
import { AlreadyCompletedProblemDto, FieldErrorDto, ProblemDto } from './problem.dto.js';
import { headerComponents } from './responses.js';
import { sharePartsOf } from './shared-parts.js';

/** The first thing a reader of /docs sees; Markdown. Its headings are the menu of the page. */
const description = `
A queue for work that takes too long to wait for on an open connection, such as AI model inference. Submit a request
for a model and get its id at once; poll or stream its status; fetch the response when it has completed. An accepted
request is on disk, and reaches exactly one outcome.

## Send your first request

Submit it. The answer has its id and its URLs.

\`\`\`sh
curl http://127.0.0.1:3000/v1/queue/demo/image/fractal \\
  -H "Authorization: Key $KEY" -d '{"prompt": "a spiral"}'
\`\`\`

Follow its status until it is COMPLETED. \`$ID\` is the \`request_id\` of that answer.

\`\`\`sh
curl -N "http://127.0.0.1:3000/v1/queue/requests/$ID/status/stream?logs=1"
\`\`\`

Fetch the response: the output of the model, unchanged.

\`\`\`sh
curl http://127.0.0.1:3000/v1/queue/requests/$ID
\`\`\`

## Keys

A submission needs an API key: \`Authorization: Key <key>\` or \`Authorization: Bearer <key>\`. A request's id cannot be
guessed, so by default a client that knows it may read and cancel the request without a key. A key that is sent must be
valid and must own the request. An installation with \`REQUEST_ACCESS=key\` requires a key everywhere.

## Errors

Every error is \`application/problem+json\` (RFC 9457). Decide by its \`code\`, which is stable: [the list of all
codes](http://127.0.0.1:3000/docs/errors) says whether to try again, and what to do. Wait for \`Retry-After\` seconds if
the answer has that header, otherwise back off exponentially. An unknown route answers 404 \`not_found\`. A known route
with another method answers 405 \`method_not_allowed\` with \`Allow\`. A call that is not valid HTTP gets 400, 408 or 431
\`bad_request\`.

## Rate limits

By default a caller may make 10 submissions a second and 100 a minute, and 100 and 1,800 other calls. Both windows
apply at once, per key, or per address if no key is sent. Beyond either limit the answer is 403 \`rate_limited\`, or 429
with \`RATE_LIMIT_STATUS=429\`. The remaining quota is in the headers \`X-RateLimit-…\` and \`RateLimit\` of every
answer, and at \`GET /v1/key\`.

## Conventions

Every answer has the header \`X-Request-Id\`. Times are ISO 8601 in UTC. A trailing slash makes no difference. Any object
may get new members at any time; clients must ignore members that they do not know.
`.trim();

const keyUsage =
  'The word `Key`, a space, and the API key: `Key ns_…`. On this page the key alone is enough.';

/**
 * Builds the API as OpenAPI 3.1. It is the same for every installation, but for the adapters that an installation serves.
 */
export function buildOpenApi(app: INestApplication): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Now Serving')
    .setDescription(description)
    .setVersion(version)
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer('/', 'The service that this description comes from')
    .addTag('Requests', 'One request: submit it, read its status, cancel it, fetch its response.')
    .addTag(
      'Collection',
      'Many requests at once: lists, submissions, statuses, bulk cancels; retry and erase.',
    )
    .addTag(
      'Batches',
      'Many lines with one end: make a batch, watch it, cancel it, read its output and its errors.',
    )
    .addTag('Files', 'Data that does not fit into JSON: upload a file, use its URL in an input, read it.')
    .addTag('Stream', 'Changes of the status and the output of a request, as server-sent events.')
    .addTag('Webhooks', 'Notifications about completed requests: read them, and deliver them again.')
    .addTag('Models', 'The models that a key may call, with their inputs and their load.')
    .addTag('Key', 'The rights and limits of the key of the call.')
    .addTag(
      'Workers',
      'For programs that run requests: they claim runs, report their results, and send beats as signs of life.',
    )
    .addTag('Admin', 'For operators: watch the service, and act on it.')
    .addTag(
      'Health',
      'For load balancers and orchestrators. The calls need no key, and no limit counts them.',
    )
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
  sharePartsOf(document);
  // Express has to try the wildcard last, but a reader begins with it.
  const { '/v1/queue/{model_id}': submission, ...others } = document.paths;
  document.paths = { '/v1/queue/{model_id}': submission!, ...others };
  return document;
}
