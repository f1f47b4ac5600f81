/** The first thing a reader of /docs sees; Markdown. */
export const openApiDescription = `
A queue for AI model requests that take longer than one wants to keep a connection open. Submit a request and get
its id and URLs at once; poll or stream its status; fetch the response when it is COMPLETED.

## Quick start

\`\`\`sh
# 1. Submit. The answer has the request's id and its URLs.
curl -d '{"prompt": "a spiral"}' -H "Authorization: Key $KEY" http://127.0.0.1:3000/v1/queue/demo/image/fractal

# 2. Follow the status until it is COMPLETED.
curl -N http://127.0.0.1:3000/v1/queue/requests/$ID/status/stream?logs=1

# 3. Fetch the response.
curl http://127.0.0.1:3000/v1/queue/requests/$ID
\`\`\`

## Keys

Submitting needs an API key: \`Authorization: Key <key>\` or \`Authorization: Bearer <key>\`. A request's id cannot be
guessed, so by default whoever knows it may read and cancel the request without a key. A key that is sent must be
valid and must own the request. An installation with \`REQUEST_ACCESS=key\` demands it everywhere.

## Errors

Every error is \`application/problem+json\` (RFC 9457). Decide by its \`code\`, which is stable; all of them are listed
at [/docs/errors](/docs/errors), with what to do next. Wait for \`Retry-After\` seconds where it is sent, otherwise back off exponentially.
Unknown routes answer 404 \`not_found\`, known ones under another method 405 \`method_not_allowed\` with \`Allow\`,
and what is no readable HTTP 400, 408 or 431 \`bad_request\`.

## Rate limits

By default 10 submissions a second and 100 a minute; 100 and 1,800 of everything else. Both windows hold at once, per
key, or per address where no key is sent. Over either: 403 \`rate_limited\` (429 where \`RATE_LIMIT_STATUS\` says so).

## Conventions

Every answer carries \`X-Request-Id\`. A trailing slash makes no difference. Members that are not described here may be
added to any object at any time; clients are to ignore what they do not know.
`.trim();
