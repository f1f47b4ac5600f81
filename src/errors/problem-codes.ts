/**
 * Every stable error `code` the API can answer with, its HTTP status and its RFC 9457 title.
 * The OpenAPI description and the error filter both read this table.
 */
export const problemCodes = {
  bad_request: { status: 400, title: 'The request is malformed' },
  invalid_json: { status: 400, title: 'The body is not a JSON object' },
  invalid_query: { status: 400, title: 'A query parameter has a value that is not accepted' },
  not_completed: { status: 400, title: 'The request has not completed yet' },
  already_completed: { status: 400, title: 'The request has already completed' },
  missing_key: { status: 401, title: 'An API key is required' },
  invalid_key: { status: 401, title: 'The API key is not valid' },
  forbidden: { status: 403, title: 'The API key does not allow this' },
  rate_limited: { status: 403, title: 'Rate limit exceeded' },
  not_found: { status: 404, title: 'No such route' },
  unknown_model: { status: 404, title: 'No such model' },
  unknown_request: { status: 404, title: 'No such request' },
  method_not_allowed: { status: 405, title: 'This route does not take that method' },
  gone: { status: 410, title: 'The request was removed by retention' },
  body_too_large: { status: 413, title: 'The body is too large' },
  unsupported_encoding: { status: 415, title: 'The content encoding is not supported' },
  invalid_input: { status: 422, title: "The input does not fit the model's schema" },
  idempotency_key_reused: { status: 422, title: 'The idempotency key was used with another body' },
  invalid_idempotency_key: { status: 400, title: 'The idempotency key is malformed' },
  cancelled: { status: 499, title: 'The request was cancelled' },
  internal_error: { status: 500, title: 'Something went wrong on our side' },
  model_error: { status: 502, title: 'The model failed' },
  model_unavailable: { status: 502, title: 'The model could not be reached' },
  node_lost: { status: 502, title: 'The nodes that ran the request were lost' },
  unavailable: { status: 503, title: 'The service cannot take requests now' },
  timed_out: { status: 504, title: 'The model ran too long' },
  expired: { status: 504, title: 'The request waited too long' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof problemCodes;
